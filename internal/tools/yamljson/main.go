// Command yamljson writes a YAML document as indented JSON: openapi.yaml is for
// people, openapi.json is what the program embeds and serves.
//
//	yamljson IN.yaml OUT.json
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"go.yaml.in/yaml/v3"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "yamljson:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("want IN.yaml OUT.json")
	}
	in, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	var doc any
	if err := yaml.Unmarshal(in, &doc); err != nil {
		return fmt.Errorf("reading %s: %w", args[0], err)
	}
	out, err := json.MarshalIndent(doc, "", " ")
	if err != nil {
		return fmt.Errorf("writing %s: %w", args[1], err)
	}
	return os.WriteFile(args[1], append(out, '\n'), 0o644)
}
