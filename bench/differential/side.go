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

const askLimit = time.Minute

// side is one of the two servers.
type side struct {
	transport *http.Transport
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
	return &side{host: host, transport: transport}
}

// answer is a response without what differs from run to run.
type answer struct {
	status  int
	headers http.Header
	body    string
	steps   []any // of a call to /do
}

// connection are the fields that each server sets for its own connection.
var connection = []string{"Date", "Connection", "Keep-Alive", "Transfer-Encoding", "Content-Length"} //nolint:gochecknoglobals // a constant table

// ask sends a call.
func (s *side) ask(ctx context.Context, c call) (*answer, error) {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	if c.scheduled != nil {
		return s.scheduled(ctx, c.scheduled)
	}
	r, err := s.request(ctx, c)
	if err != nil {
		return nil, err
	}
	if c.body == "" {
		r.Body, r.ContentLength = nil, 0
	}
	for name, value := range c.headers {
		if strings.Contains(value, tagMark) {
			tag, err := s.tag(ctx, c.target)
			if err != nil {
				return nil, err
			}
			value = strings.ReplaceAll(value, tagMark, tag)
		}
		r.Header.Set(name, value)
	}
	resp, err := s.transport.RoundTrip(r) // a client would read Location, which may be no URL
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	for _, name := range connection {
		resp.Header.Del(name)
	}
	a := &answer{status: resp.StatusCode, headers: resp.Header, body: string(text)}
	if c.steps != nil {
		_ = json.Unmarshal(text, &a.steps) // else the bodies are compared
	}
	return a, nil
}

// request makes the request of a call, whose target is sent unchanged.
func (s *side) request(ctx context.Context, c call) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, c.method, "http://"+s.host+"/", strings.NewReader(c.body))
	if err != nil {
		return nil, err
	}
	if target, err := url.ParseRequestURI(c.target); err == nil && target.RequestURI() == c.target {
		target.Scheme, target.Host = r.URL.Scheme, r.URL.Host
		r.URL = target
	} else {
		r.URL.Opaque = c.target
	}
	return r, nil
}

// tagMark stands for the entity tag of what is asked for, which differs between the sides.
const tagMark = "{etag}"

func (s *side) tag(ctx context.Context, target string) (string, error) {
	a, err := s.ask(ctx, call{method: http.MethodGet, target: target})
	if err != nil {
		return "", err
	}
	return a.headers.Get("Etag"), nil
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
