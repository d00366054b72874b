package project

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"

	"github.com/tailscale/hujson"
)

// syntaxError is a file that cannot be parsed, and where.
type syntaxError struct {
	pos  pos
	text string
}

func (e *syntaxError) Error() string { return e.text }

var hujsonPlace = regexp.MustCompile(`^hujson: line (\d+), column (\d+): (.*)$`)

// parseJSONC reads JSON with comments and trailing commas.
func parseJSONC(data []byte) (*node, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	root, err := hujson.Parse(data)
	if err != nil {
		if m := hujsonPlace.FindStringSubmatch(err.Error()); m != nil {
			line, _ := strconv.Atoi(m[1])
			col, _ := strconv.Atoi(m[2])
			return nil, &syntaxError{pos{line: line, col: col}, m[3]}
		}
		return nil, &syntaxError{pos{line: 1, col: 1}, err.Error()}
	}
	return jsonNode(&root, placer{data})
}

func jsonNode(v *hujson.Value, at placer) (*node, error) {
	n := &node{pos: at.at(v.StartOffset)}
	switch t := v.Value.(type) {
	case *hujson.Object:
		n.kind = kindObject
		if err := n.addMembers(t, at); err != nil {
			return nil, err
		}
	case *hujson.Array:
		n.kind = kindArray
		for i := range t.Elements {
			item, err := jsonNode(&t.Elements[i], at)
			if err != nil {
				return nil, err
			}
			n.items = append(n.items, item)
		}
	case hujson.Literal:
		n.addLiteral(t)
	}
	compact := v.Clone()
	compact.Minimize()
	n.raw = compact.Pack()
	return n, nil
}

func (n *node) addMembers(obj *hujson.Object, at placer) error {
	seen := map[string]bool{}
	for i := range obj.Members {
		m := &obj.Members[i]
		var key string
		where := at.at(m.Name.StartOffset)
		if err := json.Unmarshal(m.Name.Pack(), &key); err != nil {
			if lit, ok := m.Name.Value.(hujson.Literal); ok {
				key = lit.String()
			}
		}
		if seen[key] {
			return &syntaxError{where, fmt.Sprintf("%q is defined twice", key)}
		}
		seen[key] = true
		val, err := jsonNode(&m.Value, at)
		if err != nil {
			return err
		}
		n.members = append(n.members, member{key, where, val})
	}
	return nil
}

func (n *node) addLiteral(lit hujson.Literal) {
	switch lit.Kind() {
	case '"':
		n.kind, n.text = kindString, lit.String()
	case 't', 'f':
		n.kind, n.yes = kindBool, lit.Bool()
	case '0':
		n.kind = kindNumber
	default:
		n.kind = kindNull
	}
}
