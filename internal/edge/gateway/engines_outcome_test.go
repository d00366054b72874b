package gateway_test

import (
	"bytes"
	"fmt"
	"net"
	"regexp"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/svcctl/svcctl/internal/edge/http1"
)

// outcome is what runtime, client and observer got in a run of FuzzEngines.
type outcome struct {
	received  []string // requests of the runtime
	observed  []string
	responses []string // complete ones
	broken    string   // the beginning of one that is not
	reset     bool     // of the client's connection, which may lose responses
	early     bool     // a response may come before the body, for which the client waits to be asked
	up, down  string   // frames of a websocket
}

// differs describes how other differs from o; "" for not at all. The time decides how much a
// side gets of a response that breaks off, of a websocket, and before a reset.
func (o *outcome) differs(other *outcome) string {
	if o.early {
		o, other = o.first(other), other.first(o)
	}
	diff := cmp.Diff(o.received, other.received, cmpopts.EquateEmpty()) + cmp.Diff(o.observed, other.observed, cmpopts.EquateEmpty())
	n := min(len(o.responses), len(other.responses))
	if !o.reset && !other.reset {
		n = max(len(o.responses), len(other.responses))
		diff += prefixes("broken response", o.broken, other.broken)
	}
	diff += cmp.Diff(o.responses[:min(n, len(o.responses))], other.responses[:min(n, len(other.responses))], cmpopts.EquateEmpty())
	return diff + prefixes("frames of the client", o.up, other.up) + prefixes("frames of the worker", o.down, other.down)
}

// first returns what o has of the requests that both have, without what says whether the connection is used
// again: the time decides whether a response comes before the body, and then it is not.
func (o *outcome) first(other *outcome) *outcome {
	cut := func(a, b []string) (list []string) {
		for _, text := range a[:min(len(a), len(b))] {
			list = append(list, strings.ReplaceAll(text, "Connection: close\r\n", ""))
		}
		return list
	}
	return &outcome{
		received: cut(o.received, other.received), observed: cut(o.observed, other.observed), responses: cut(o.responses, other.responses),
		broken: strings.ReplaceAll(o.broken, "Connection: close\r\n", ""), reset: o.reset, up: o.up, down: o.down,
	}
}

// prefixes reports it if neither text begins with the other one.
func prefixes(what, a, b string) string {
	if strings.HasPrefix(a, b) || strings.HasPrefix(b, a) {
		return ""
	}
	return what + ":\n" + cmp.Diff(a, b)
}

func newOutcome(in *plan, text []byte, reset bool, list []access) *outcome {
	o := &outcome{received: in.received, up: in.up, reset: reset, early: bytes.Contains(bytes.ToLower(in.client), []byte("100-continue"))}
	for _, a := range list {
		o.observed = append(o.observed, a.line)
	}
	for rest := text; len(rest) > 0; {
		var method string
		if len(o.responses) < len(list) {
			method = list[len(o.responses)].method
		}
		n := o.response(in, rest, []byte(method))
		if n == 0 {
			break
		}
		rest = rest[n:]
	}
	return o
}

// response adds the first response in b, with the interim ones in front of it, and returns its
// length; 0 if it is the last one.
func (o *outcome) response(in *plan, b, method []byte) int {
	end := endOf(b, method)
	head, body := in.plain(b[:end.body]), b[end.body:end.whole]
	switch {
	case end.upgrade:
		o.responses, o.down = append(o.responses, head), withoutClose(body)
		return 0
	case end.complete && malformed.MatchString(head):
		o.responses = append(o.responses, "malformed")
		return end.whole
	case end.complete:
		o.responses = append(o.responses, fmt.Sprintf("%s%s\ntrailer %q", head, digest([]byte(in.plain(end.data))), end.trailer))
		return end.whole
	}
	o.broken = head + in.plain(end.data)
	return 0
}

// malformed matches the refusal of a request that cannot be read. Of two mistakes in one, the
// time decides which one is found.
var malformed = regexp.MustCompile("\r\nSvc-Error: (bad_request|header_too_large)\r\n")

// withoutClose returns frames without the close frame of the gateway, which sends it when the
// client has closed first.
func withoutClose(frames []byte) string {
	return string(bytes.TrimSuffix(frames, http1.AppendClose(nil, 1012, "service restart")))
}

// ending describes the first final response in a text.
type ending struct {
	body     int    // offset of its body
	whole    int    // its length, with the interim responses in front
	n        int    // length of what a runtime sends of the text
	complete bool   // of known length, and all there
	keep     bool   // the connection can be used again
	upgrade  bool   // to a websocket
	data     []byte // of the body
	trailer  []byte
}

const maxExtra = 8 << 10 // so that it arrives in one piece

func endOf(text, method []byte) ending {
	var r http1.Response
	at := 0
	for interim := true; interim; interim = r.Status < 200 && r.Status != 101 {
		n, err := http1.FindHead(text[at:], 0)
		if err != nil || n == 0 || r.Parse(text[at:at+n]) != nil {
			return ending{body: at, whole: len(text), n: len(text), data: text[at:]}
		}
		at += n
	}
	e := ending{body: at, whole: len(text), n: len(text), data: text[at:], upgrade: r.Status == 101}
	length := len(text) - at
	switch {
	case e.upgrade:
		return e
	case r.BodyLess(method):
		e.complete, length = true, 0
	case r.Chunked:
		var dec http1.Chunked
		data := bytes.Clone(text[at:])
		n, used, err := dec.Decode(data)
		e.data, e.trailer, e.complete = data[:n], dec.Trailer, err == nil && dec.Done()
		if e.complete {
			length = used
		}
	case r.Length >= 0 && r.Length <= int64(length):
		e.complete, length = true, int(r.Length)
	}
	if !e.complete {
		return e
	}
	e.whole, e.keep = at+length, r.KeepsAlive()
	if !r.Chunked || r.BodyLess(method) {
		e.data = text[at:e.whole]
	}
	if len(text) > maxExtra {
		e.n = e.whole
	}
	return e
}

// stream reads messages of the gateway.
type stream struct {
	net.Conn
	buf []byte
}

func (s *stream) more() bool {
	b := make([]byte, 64<<10)
	n, _ := s.Read(b)
	s.buf = append(s.buf, b[:n]...)
	return n > 0
}

func (s *stream) use(n int) []byte {
	b := s.buf[:n]
	s.buf = s.buf[n:]
	return b
}

func (s *stream) head() (head []byte, ok bool) {
	for {
		n, err := http1.FindHead(s.buf, 0)
		if err != nil || n > 0 {
			return s.use(n), err == nil
		}
		if !s.more() {
			return nil, false
		}
	}
}

func (s *stream) body(f *http1.Fields, exists bool) (body []byte, ok bool) {
	if !exists {
		return nil, true
	}
	var dec http1.Chunked
	for {
		if f.Chunked {
			n, used, err := dec.Decode(s.buf)
			body = append(body, s.buf[:n]...)
			if s.use(used); err != nil || dec.Done() {
				return body, err == nil
			}
		} else if int64(len(s.buf)) >= f.Length {
			return s.use(int(f.Length)), true
		}
		if !s.more() {
			return body, false
		}
	}
}
