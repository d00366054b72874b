package kit

import (
	"encoding/json"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/svcctl/svcctl/internal/lib/text"
)

// plain is v as JSON has it: maps, lists, texts and numbers.
func plain(v any) (any, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var document any
	err = yaml.Unmarshal([]byte(text.EscapeYAML(string(data))), &document) // YAML reads JSON, and keeps large integers
	return document, err
}

// printYAML writes v as one YAML document with the keys of its JSON.
func (k *Kit) printYAML(v any) error {
	document, err := plain(v)
	if err != nil {
		return err
	}
	var node yaml.Node
	if err := node.Encode(document); err != nil {
		return err
	}
	quote(&node)
	enc := yaml.NewEncoder(text.YAML(k.Out))
	enc.SetIndent(2)
	if err := enc.Encode(&node); err != nil {
		return err
	}
	return enc.Close()
}

// quote puts the strings of a document in quotes that have characters to escape.
func quote(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && strings.ContainsFunc(n.Value, text.IsHidden) {
		n.Style = yaml.DoubleQuotedStyle
	}
	for _, child := range n.Content {
		quote(child)
	}
}

// Names reports whether output is to be names, one a line.
func (k *Kit) Names() bool { return k.format() == "name" }

// printNames writes the name of each thing in v, one a line, as commands take it.
func (k *Kit) printNames(v any) error {
	document, err := plain(v)
	if err != nil {
		return err
	}
	for _, name := range namesIn(document) {
		k.Printf("%s", text.Clean(name))
	}
	return nil
}

// namesIn are the names of the things in a list, in a page or in one record.
func namesIn(document any) []string {
	switch v := document.(type) {
	case []any:
		var names []string
		for _, item := range v {
			names = append(names, namesIn(item)...)
		}
		return names
	case map[string]any:
		if items, ok := v["items"].([]any); ok && v["id"] == nil {
			return namesIn(items)
		}
		return nameOf(v)
	}
	return nil
}

// nameOf is the name of one record: of a version with its project.
func nameOf(record map[string]any) []string {
	if id, ok := record["id"].(string); ok {
		if project, ok := record["project_id"].(string); ok {
			return []string{project + "/" + id}
		}
		return []string{id}
	}
	if name, ok := record["name"].(string); ok && record["newest_version_id"] != nil { // a preview
		return []string{fmt.Sprintf("%v/%s", record["project_id"], name)}
	}
	for _, key := range []string{"key", "version_id", "name", "context", "file"} {
		if name, ok := record[key]; ok {
			return []string{fmt.Sprint(name)}
		}
	}
	return nil
}
