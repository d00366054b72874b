package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// call is one request to both sides.
type call struct {
	fixture              string // the project that is asked
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
// expression; "#" begins a comment. The line "sites a b" makes the calls below it calls to
// each of these sites, under the name "assets/a/name".
func readCalls(dir string) ([]call, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		return nil, err
	}
	sites, err := filepath.Glob(filepath.Join(dir, "sites/*.txt"))
	if err != nil {
		return nil, err
	}
	var calls []call
	for _, file := range append(files, sites...) {
		more, err := readFile(file)
		if err != nil {
			return nil, err
		}
		calls = append(calls, more...)
	}
	return calls, unique(calls)
}

func unique(calls []call) error {
	seen := map[string]bool{}
	for _, c := range calls {
		if seen[c.name] {
			return fmt.Errorf("two calls are named %s", c.name)
		}
		seen[c.name] = true
	}
	return nil
}

func readFile(file string) (calls []call, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var sites []string
	for i, line := range strings.Split(string(text), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		if rest, ok := strings.CutPrefix(line, "sites "); ok {
			sites = strings.Fields(rest)
			continue
		}
		list, err := parseCalls(line)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: a call that cannot be read: %w", file, i+1, err)
		}
		calls = append(calls, list...)
	}
	return onSites(calls, sites), nil
}

// onSites returns the calls, once for each site.
func onSites(calls []call, sites []string) (list []call) {
	if sites == nil {
		return calls
	}
	for _, site := range sites {
		for _, c := range calls {
			c.fixture, c.name = sitePrefix+site, "assets/"+site+"/"+c.name
			list = append(list, c)
		}
	}
	return list
}

// options are the third part of a call.
type options struct {
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
	Repeat  int               `json:"repeat"` // bytes of a body
	Time    int64             `json:"time"`
	Each    []string          `json:"each"` // one call for each, which takes the place of {}
	In      string            `json:"in"`   // the header that has what takes the place
}

// parseCalls reads a line: one call, or one for each of a list.
func parseCalls(line string) (calls []call, err error) {
	name, rest, _ := strings.Cut(line, " ")
	c := call{fixture: fixture, name: name, method: "POST", target: "/do", body: rest}
	if strings.HasPrefix(rest, "[") {
		return []call{c}, json.Unmarshal([]byte(rest), &c.steps)
	}
	c.body = ""
	c.method, rest, _ = strings.Cut(rest, " ")
	target, text, found := strings.Cut(rest, " ")
	c.target = target
	if !found {
		return []call{c}, nil
	}
	var o options
	if err = json.Unmarshal([]byte(text), &o); err == nil && c.method == "SCHEDULED" {
		c.scheduled = &scheduled{at: o.Time}
		c.scheduled.cron, err = url.PathUnescape(target)
	}
	c.headers, c.body = o.Headers, o.Body+strings.Repeat("r", o.Repeat)
	return each(c, o), err
}

// each makes the calls of a list. Their names have ":" for "/", which patterns treat specially.
func each(c call, o options) (calls []call) {
	if o.Each == nil {
		return []call{c}
	}
	for _, text := range o.Each {
		one := c
		one.name = strings.ReplaceAll(c.name, "{}", strings.ReplaceAll(text, "/", ":"))
		one.method = strings.ReplaceAll(c.method, "{}", text)
		one.target = strings.ReplaceAll(c.target, "{}", text)
		if o.In != "" {
			one.headers = map[string]string{o.In: text}
		}
		calls = append(calls, one)
	}
	return calls
}

// fixtures lists the projects of the calls, in order, that have a call whose name begins with
// only.
func fixtures(calls []call, only string) (list []string) {
	for _, c := range calls {
		if strings.HasPrefix(c.name, only) && !slices.Contains(list, c.fixture) {
			list = append(list, c.fixture)
		}
	}
	return list
}
