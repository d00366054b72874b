package project

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// parseTOML reads the values with the strict decoder, and the places of the
// keys from the syntax tree.
func parseTOML(data []byte) (*node, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	var values map[string]any
	if err := toml.Unmarshal(data, &values); err != nil {
		if at, ok := errors.AsType[*toml.DecodeError](err); ok {
			line, col := at.Position()
			return nil, &syntaxError{pos{line: line, col: col}, strings.TrimPrefix(at.Error(), "toml: ")}
		}
		return nil, &syntaxError{pos{line: 1, col: 1}, err.Error()}
	}
	places := tomlPlaces{places: map[string]pos{}, counts: map[string]int{}, at: placer{data}}
	places.read(data)
	return places.node("", values, pos{line: 1, col: 1})
}

// tomlPlaces maps the path of each key ("/env/staging/vars/A",
// "/kv_namespaces/0/id") to its place.
type tomlPlaces struct {
	places map[string]pos
	counts map[string]int // tables seen of an array of tables
	at     placer
}

func (t *tomlPlaces) read(data []byte) {
	var p unstable.Parser
	p.Reset(data)
	table := ""
	for p.NextExpression() {
		e := p.Expression()
		switch e.Kind { //nolint:exhaustive // the rest are values
		case unstable.Table:
			table = t.path("", e.Key())
		case unstable.ArrayTable:
			table = t.path("", e.Key())
			t.counts[table]++
			table += "/" + strconv.Itoa(t.counts[table]-1)
			t.places[table] = t.lastKey(e.Key())
		case unstable.KeyValue:
			t.keyValue(table, e)
		}
	}
}

// path extends base by a dotted key, and notes the place of each part. Parts
// that are arrays of tables mean their last element.
func (t *tomlPlaces) path(base string, key unstable.Iterator) string {
	for key.Next() {
		k := key.Node()
		base += "/" + string(k.Data)
		if _, known := t.places[base]; !known {
			t.places[base] = t.at.at(int(k.Raw.Offset))
		}
		if n := t.counts[base]; n > 0 && !key.IsLast() {
			base += "/" + strconv.Itoa(n-1)
		}
	}
	return base
}

func (t *tomlPlaces) lastKey(key unstable.Iterator) pos {
	var offset uint32
	for key.Next() {
		offset = key.Node().Raw.Offset
	}
	return t.at.at(int(offset))
}

func (t *tomlPlaces) keyValue(base string, kv *unstable.Node) {
	t.value(t.path(base, kv.Key()), kv.Value())
}

func (t *tomlPlaces) value(path string, v *unstable.Node) {
	switch v.Kind { //nolint:exhaustive // scalars have no keys
	case unstable.InlineTable:
		for it := v.Children(); it.Next(); {
			t.keyValue(path, it.Node())
		}
	case unstable.Array:
		i := 0
		for it := v.Children(); it.Next(); {
			if it.Node().Kind == unstable.Comment {
				continue
			}
			t.value(path+"/"+strconv.Itoa(i), it.Node())
			i++
		}
	}
}

func (t *tomlPlaces) node(path string, v any, parent pos) (*node, error) {
	n := &node{pos: parent}
	if at, ok := t.places[path]; ok {
		n.pos = at
	}
	var err error
	switch v := v.(type) {
	case map[string]any:
		n.kind = kindObject
		for _, key := range slices.Sorted(maps.Keys(v)) {
			var val *node
			if val, err = t.node(path+"/"+key, v[key], n.pos); err != nil {
				return nil, err
			}
			n.members = append(n.members, member{key, val.pos, val})
		}
		slices.SortStableFunc(n.members, func(a, b member) int {
			return (a.pos.line-b.pos.line)*1_000_000 + a.pos.col - b.pos.col
		})
	case []any:
		n.kind = kindArray
		for i, item := range v {
			var val *node
			if val, err = t.node(path+"/"+strconv.Itoa(i), item, n.pos); err != nil {
				return nil, err
			}
			n.items = append(n.items, val)
		}
	default:
		n.scalar(v)
	}
	if n.raw, err = json.Marshal(v); err != nil {
		return nil, &syntaxError{n.pos, "the value has no form in JSON"}
	}
	return n, nil
}

// scalar fills in a value that is no list and no table. TOML's dates become
// text, as they do in JSON.
func (n *node) scalar(v any) {
	switch v := v.(type) {
	case string:
		n.kind, n.text = kindString, v
	case bool:
		n.kind, n.yes = kindBool, v
	case int64, float64:
		n.kind = kindNumber
	case encoding.TextMarshaler:
		n.kind = kindString
		if text, err := v.MarshalText(); err == nil {
			n.text = string(text)
		}
	default:
		n.kind, n.text = kindString, fmt.Sprint(v)
	}
}
