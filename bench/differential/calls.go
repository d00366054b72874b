package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// call is one request to both sides.
type call struct {
	name, method, target string
	headers              map[string]string
	body                 string
	steps                []json.RawMessage // of a call to /do
}

// readCalls reads all files of dir, by name. A line is "name [[step], ...]", a call to /do,
// or "name METHOD target {options}"; "#" begins a comment.
func readCalls(dir string) ([]call, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		return nil, err
	}
	var calls []call
	seen := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for i, line := range strings.Split(string(text), "\n") {
			if line == "" || line[0] == '#' {
				continue
			}
			c, err := parseCall(line)
			if err != nil || seen[c.name] {
				return nil, fmt.Errorf("%s:%d: a call that cannot be read, or has the name of another: %w", file, i+1, err)
			}
			seen[c.name] = true
			calls = append(calls, c)
		}
	}
	return calls, nil
}

func parseCall(line string) (c call, err error) {
	name, rest, _ := strings.Cut(line, " ")
	c = call{name: name, method: "POST", target: "/do", body: rest}
	if strings.HasPrefix(rest, "[") {
		return c, json.Unmarshal([]byte(rest), &c.steps)
	}
	c.body = ""
	c.method, rest, _ = strings.Cut(rest, " ")
	target, options, found := strings.Cut(rest, " ")
	c.target = target
	if !found {
		return c, nil
	}
	var o struct {
		Headers map[string]string `json:"headers"`
		Body    string            `json:"body"`
		Repeat  int               `json:"repeat"` // bytes of a body
	}
	err = json.Unmarshal([]byte(options), &o)
	c.headers, c.body = o.Headers, o.Body+strings.Repeat("r", o.Repeat)
	return c, err
}
