package project

import (
	"regexp"
)

// places finds where the keys of an evaluated value are in its source. It is a search by text: a value that
// another file makes, or a helper, has the place of what is around it.
type places struct {
	source string
	at     placer
	file   string // as people know it; "" for the project file
}

func placesOf(source []byte, file string) places { return places{string(source), placer{source}, file} }

// place is that of an offset.
func (p places) place(offset int) pos {
	at := p.at.at(offset)
	at.file = p.file
	return at
}

// relocate gives n and what is in it the places of the source, from an offset on.
func (p places) relocate(n *node, from int) {
	n.pos = p.place(from)
	for i := range n.members {
		m := &n.members[i]
		at := p.key(m.key, from)
		m.pos = p.place(at)
		p.relocate(m.val, at)
	}
	at := from
	for _, item := range n.items {
		if item.kind == kindString {
			at = p.after(`["'`+"`]"+regexp.QuoteMeta(item.text)+`["'`+"`]", at)
		}
		if len(item.members) > 0 {
			at = p.entry(item, at)
		}
		p.relocate(item, at)
	}
}

// entry is where an entry of a list begins: at its most telling member, a text that is not its type.
func (p places) entry(n *node, from int) int {
	for _, m := range n.members {
		if m.val.kind == kindString && m.key != "type" && m.val.text != "" {
			if at := p.after(`["'`+"`]"+regexp.QuoteMeta(m.val.text)+`["'`+"`]", from+1); at != from+1 {
				return at
			}
		}
	}
	return from
}

// key is where a key is written, or from if it is not found.
func (p places) key(key string, from int) int {
	at := p.after(`(?:^|[{,\s(])["']?`+regexp.QuoteMeta(key)+`["']?\s*[:,}(]`, from)
	for at != from && at < len(p.source) && (p.source[at] == '{' || p.source[at] == ',' || p.source[at] == '(' || p.source[at] <= ' ') {
		at++
	}
	return at
}

// after is where a pattern matches from an offset on; the offset if it does not.
func (p places) after(pattern string, from int) int {
	found := regexp.MustCompile(pattern).FindStringIndex(p.source[min(from, len(p.source)):])
	if found == nil {
		return from
	}
	return from + found[0]
}
