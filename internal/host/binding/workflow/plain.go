package workflow

import (
	"bytes"
	"encoding/json"
)

// fromPlain writes JSON of a person as value.js reads it.
func fromPlain(text json.RawMessage) (json.RawMessage, error) {
	if len(text) == 0 {
		return json.RawMessage("{}"), nil
	}
	v, err := parse(text)
	if err != nil {
		return nil, err
	}
	return json.Marshal(tagged(v))
}

func parse(text []byte) (v any, err error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber() // keeps the digits
	err = dec.Decode(&v)
	return v, err
}

// tagged hides keys that have a meaning in value.js.
func tagged(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = tagged(v[i])
		}
	case map[string]any:
		var entries [][2]any
		for k := range v {
			v[k] = tagged(v[k])
			entries = append(entries, [2]any{k, v[k]})
		}
		_, dollar := v["$"]
		if _, proto := v["__proto__"]; dollar || proto {
			return map[string]any{"$": "object", "v": entries}
		}
	}
	return v
}

// toPlain shows a value of value.js to people: a date as text, a Map as a list of pairs, bytes
// as {"$base64": …}. A value that stands there twice is "[Ref]" the second time.
func toPlain(text json.RawMessage) json.RawMessage {
	if !bytes.Contains(text, []byte(`"$"`)) {
		return text
	}
	v, err := parse(text)
	if err != nil {
		return text
	}
	shown, err := json.Marshal(shown(v))
	if err != nil {
		return text
	}
	return shown
}

func shown(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = shown(v[i])
		}
	case map[string]any:
		if kind, ok := v["$"].(string); ok {
			return shownTag(kind, v["v"])
		}
		for k := range v {
			v[k] = shown(v[k])
		}
	}
	return v
}

func shownTag(kind string, v any) any {
	switch kind {
	case "undefined":
		return nil
	case "date":
		if ms, ok := v.(json.Number); ok {
			if n, err := ms.Int64(); err == nil {
				return isoTime(n)
			}
		}
		return v
	case "bytes":
		return map[string]any{"$base64": v}
	case "ref":
		return "[Ref]"
	case "object":
		return shownObject(v)
	}
	return shown(v)
}

// shownObject reads the pairs of an object.
func shownObject(v any) any {
	object := map[string]any{}
	pairs, _ := v.([]any)
	for _, p := range pairs {
		pair, _ := p.([]any)
		if len(pair) != 2 {
			continue
		}
		if key, ok := pair[0].(string); ok {
			object[key] = shown(pair[1])
		}
	}
	return object
}
