package inspect

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"path/filepath"
	"strings"
)

// Scripts are the source maps of a worker's modules, by the name of the module.
type Scripts struct {
	Root string            // absolute directory that the sources are relative to
	Maps map[string][]byte // source maps of version 3
}

const parsed = "Debugger.scriptParsed"

// rewrite adds the source map to the report of a script. Other messages stay.
func (s Scripts) rewrite(message []byte) []byte {
	if !bytes.Contains(message, []byte(parsed)) {
		return message
	}
	var event struct {
		Method string                     `json:"method"`
		Params map[string]json.RawMessage `json:"params"`
	}
	var script string
	if json.Unmarshal(message, &event) != nil || event.Method != parsed || json.Unmarshal(event.Params["url"], &script) != nil {
		return message
	}
	at := s.mapURL(strings.TrimPrefix(strings.TrimPrefix(script, "file://"), "/"))
	if at == "" {
		return message
	}
	event.Params["sourceMapURL"], _ = json.Marshal(at) // a string always encodes
	changed, err := json.Marshal(event)
	if err != nil {
		return message
	}
	return changed
}

// mapURL is the source map of a module as a URL that needs no server; "" for none.
func (s Scripts) mapURL(module string) string {
	data := s.Maps[module]
	if data == nil {
		return ""
	}
	var m map[string]json.RawMessage
	var sources []string
	if json.Unmarshal(data, &m) != nil || json.Unmarshal(m["sources"], &sources) != nil {
		return ""
	}
	for i, source := range sources {
		if !strings.Contains(source, ":") { // not a URL, as <define:x> and node-internal:x are none
			sources[i] = fileURL(filepath.Join(s.Root, filepath.FromSlash(source)))
		}
	}
	m["sources"], _ = json.Marshal(sources) // strings always encode
	data, err := json.Marshal(m)
	if err != nil {
		return ""
	}
	return "data:application/json;base64," + base64.StdEncoding.EncodeToString(data)
}
