package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"
)

// side is one of the two servers.
type side struct {
	client    *http.Client
	host      string
	scheduled func(context.Context, *scheduled) (*answer, error) // runs the scheduled handler
}

func newSide(address, host string) *side {
	transport := &http.Transport{
		DisableCompression: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", address)
		},
	}
	return &side{host: host, client: &http.Client{
		Transport: transport, Timeout: time.Minute,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// answer is a response without what differs from run to run.
type answer struct {
	status  int
	headers http.Header
	body    string
	steps   []any // of a call to /do
}

// transport are the fields that each server sets for its own connection.
var transport = []string{"Date", "Connection", "Keep-Alive", "Transfer-Encoding", "Content-Length"} //nolint:gochecknoglobals // a constant table

// ask sends a call.
func (s *side) ask(ctx context.Context, c call) (*answer, error) {
	if c.scheduled != nil {
		return s.scheduled(ctx, c.scheduled)
	}
	target, err := url.ParseRequestURI(c.target)
	if err != nil {
		return nil, err
	}
	target.Scheme, target.Host = "http", s.host
	r, err := http.NewRequestWithContext(ctx, c.method, target.String(), strings.NewReader(c.body))
	if err != nil {
		return nil, err
	}
	if c.body == "" {
		r.Body, r.ContentLength = nil, 0
	}
	for name, value := range c.headers {
		r.Header.Set(name, value)
	}
	resp, err := s.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	for _, name := range transport {
		resp.Header.Del(name)
	}
	a := &answer{status: resp.StatusCode, headers: resp.Header, body: string(text)}
	if c.steps != nil {
		_ = json.Unmarshal(text, &a.steps) // else the bodies are compared
	}
	return a, nil
}

// difference is one thing that is not the same.
type difference struct {
	what         string // "status", "body", a header in lower case, or a field of a result
	theirs, ours string
}

func differ(theirs, ours *answer) (list []difference) {
	if theirs.status != ours.status {
		list = append(list, difference{"status", fmt.Sprint(theirs.status), fmt.Sprint(ours.status)})
	}
	for _, name := range headerNames(theirs, ours) {
		if a, b := theirs.headers.Values(name), ours.headers.Values(name); !slices.Equal(a, b) {
			list = append(list, difference{strings.ToLower(name), fmt.Sprintf("%q", a), fmt.Sprintf("%q", b)})
		}
	}
	if theirs.steps != nil && len(theirs.steps) == len(ours.steps) {
		return append(list, values("body", theirs.steps, ours.steps)...)
	}
	if theirs.body != ours.body {
		list = append(list, difference{"body", clip(theirs.body), clip(ours.body)})
	}
	return list
}

// values compares results. A difference is named by the innermost field that it is in.
func values(name string, theirs, ours any) (list []difference) {
	a, isObject := theirs.(map[string]any)
	b, both := ours.(map[string]any)
	if isObject && both && (a["$error"] == nil) == (b["$error"] == nil) {
		for _, field := range slices.Sorted(maps.Keys(union(a, b))) {
			list = append(list, values(field, a[field], b[field])...)
		}
		return list
	}
	c, isList := theirs.([]any)
	d, both := ours.([]any)
	if isList && both && len(c) == len(d) {
		for i := range c {
			list = append(list, values(name, c[i], d[i])...)
		}
		return list
	}
	if reflect.DeepEqual(theirs, ours) {
		return nil
	}
	return []difference{{name, short(theirs), short(ours)}}
}

func union(a, b map[string]any) map[string]any {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

func headerNames(theirs, ours *answer) (names []string) {
	for _, a := range []*answer{theirs, ours} {
		for name := range a.headers {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func short(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return clip(string(text))
}

// clip shortens a text; the sum tells long texts apart.
func clip(text string) string {
	const limit = 600
	if len(text) <= limit {
		return fmt.Sprintf("%q", text)
	}
	return fmt.Sprintf("%q … %d bytes, %x", text[:limit], len(text), sha256.Sum256([]byte(text)))
}
