package project

import (
	"bytes"
	"encoding/json"
	"slices"
)

// kind is the type of a value in a project file.
type kind string

const (
	kindObject kind = "an object"
	kindArray  kind = "a list"
	kindString kind = "a string"
	kindNumber kind = "a number"
	kindBool   kind = "true or false"
	kindNull   kind = "null"
)

// pos is a place in a file; the first line and column are 1, a column counts
// bytes. file is "" for the one that is read, or another as people know it.
type pos struct {
	line, col int
	file      string
}

// node is a value with its place, whatever the file's format.
type node struct {
	kind    kind
	pos     pos
	members []member // of an object, in the file's order
	items   []*node  // of a list
	text    string   // of a string
	yes     bool
	raw     json.RawMessage // the value as compact JSON
}

type member struct {
	key string
	pos pos
	val *node
}

// get finds a member; null counts as absent.
func (n *node) get(key string) *node {
	if n == nil {
		return nil
	}
	for i := range n.members {
		if m := &n.members[i]; m.key == key && m.val.kind != kindNull {
			return m.val
		}
	}
	return nil
}

// with is an object with the members of n and those of over, which win.
func (n *node) with(over *node) *node {
	both := *over
	for _, m := range n.members {
		if over.get(m.key) == nil {
			both.members = append(slices.Clip(both.members), m)
		}
	}
	return &both
}

// empty is true for what asks for nothing: null, false, "", and lists and
// objects of only such. Tools that generate project files write those.
func (n *node) empty() bool {
	switch n.kind {
	case kindNull:
		return true
	case kindBool:
		return !n.yes
	case kindString:
		return n.text == ""
	case kindNumber:
		return false
	case kindArray:
		for _, item := range n.items {
			if !item.empty() {
				return false
			}
		}
		return true
	case kindObject:
		for _, m := range n.members {
			if !m.val.empty() {
				return false
			}
		}
		return true
	}
	return false
}

// placer turns byte offsets into places.
type placer struct{ data []byte }

func (p placer) at(offset int) pos {
	before := p.data[:min(offset, len(p.data))]
	return pos{line: 1 + bytes.Count(before, []byte("\n")), col: offset - bytes.LastIndexByte(before, '\n')}
}
