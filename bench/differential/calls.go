package main

import (
	"encoding/json"
	"fmt"
	"net/url"
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
	scheduled            *scheduled        // in place of a request
}

// scheduled is a run of the scheduled handler.
type scheduled struct {
	cron string
	at   int64 // milliseconds since 1970
}

// readCalls reads all files of dir, by name. A line is "name [[step], ...]", a call to /do,
// "name METHOD target {options}", or "name SCHEDULED cron {"time": ms}" with an escaped cron
// expression; "#" begins a comment.
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
		Time    int64             `json:"time"`
	}
	if err = json.Unmarshal([]byte(options), &o); err == nil && c.method == "SCHEDULED" {
		c.scheduled = &scheduled{at: o.Time}
		c.scheduled.cron, err = url.PathUnescape(target)
	}
	c.headers, c.body = o.Headers, o.Body+strings.Repeat("r", o.Repeat)
	return c, err
}
