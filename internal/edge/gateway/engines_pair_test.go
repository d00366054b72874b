package gateway_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"regexp"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/edge/gateway"
	"github.com/svcctl/svcctl/internal/edge/http1"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// plan is an input of FuzzEngines, and what the runtime received in it.
type plan struct {
	client, runtime []byte
	seed            uint64

	mu       sync.Mutex
	received []string // each request
	up       string   // frames of a websocket
}

// expand replaces the words {20K} and {200K} by as many bytes. ok is false if there are many.
func expand(text []byte) (long []byte, ok bool) {
	const most = 4
	if bytes.Count(text, []byte("{20K}"))+bytes.Count(text, []byte("{200K}")) > most {
		return nil, false
	}
	text = bytes.ReplaceAll(text, []byte("{20K}"), bytes.Repeat([]byte("x"), 20<<10))
	return bytes.ReplaceAll(text, []byte("{200K}"), bytes.Repeat([]byte("y"), 200<<10)), true
}

// pieces writes text in parts, cut at random places in front of end, and calls pause between
// them.
func pieces(r *rand.Rand, text []byte, end int, w io.Writer, pause func()) {
	at := 0
	for cuts := r.IntN(4); cuts > 0 && end-at > 1; cuts-- {
		n := 1 + r.IntN(end-at-1)
		if _, err := w.Write(text[at : at+n]); err != nil {
			return
		}
		at += n
		pause()
	}
	_, _ = w.Write(text[at:])
}

// pair is an engine with a runtime, for FuzzEngines.
type pair struct {
	*bench
	seen   *accesses
	socket string
	ended  atomic.Int32 // connections to the runtime that have ended
	fences chan int32   // numbers of those that a fence has made
	plan   atomic.Pointer[plan]

	mu   sync.Mutex
	ping *raw
}

func newPair(f *testing.F, engine gateway.Engine) *pair {
	f.Helper()
	p := &pair{seen: &accesses{}, fences: make(chan int32, 1)}
	p.bench = start(f, gateway.Config{Engine: engine, Access: p.seen.add, ProbeTime: time.Hour, IdleTimeout: time.Hour})
	p.socket = fakeRuntime(f, func(n int, c *raw) {
		_ = c.SetDeadline(time.Time{})
		if p.serve(&stream{Conn: c.Conn}) {
			p.fences <- int32(n)
		}
		p.ended.Add(1)
	})
	p.ping = p.raw(f)
	_ = p.ping.SetDeadline(time.Time{})
	return p
}

const pingTarget = "/-ping-"

// pause lets the engine read what was sent: a loop answers this request after the events
// before it.
func (p *pair) pause() {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = io.WriteString(p.ping.Conn, "GET "+pingTarget+" HTTP/1.1\r\nHost: none\r\n\r\n")
	if resp, err := http.ReadResponse(p.ping.Reader, nil); err == nil {
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	}
}

// accesses are the requests that an engine has reported.
type accesses struct {
	mu   sync.Mutex
	list []access
}

type access struct {
	method string
	line   string
}

func (l *accesses) add(a gateway.Access) {
	if string(a.Target) == pingTarget {
		return
	}
	if a.Error == "bad_request" || a.Error == "header_too_large" {
		a.Status, a.Error = 0, "malformed"
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, access{string(a.Method), fmt.Sprintf("%s %s %q %q %q %d %s", a.Ref, a.Role, a.Method, a.Host, a.Target, a.Status, a.Error)})
}

func (l *accesses) take() []access {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer func() { l.list = nil }()
	return l.list
}

// play runs a plan and returns what runtime, client and observer got.
func (p *pair) play(t *testing.T, in *plan) *outcome {
	now := &plan{client: in.client, runtime: in.runtime, seed: in.seed}
	p.plan.Store(now)
	p.ready(shop, p.socket)
	c := p.raw(t)
	go func() {
		pieces(rand.New(rand.NewPCG(in.seed, 1)), in.client, len(in.client), c.Conn, p.pause)
		if tcp, ok := c.Conn.(*net.TCPConn); ok {
			_ = tcp.CloseWrite()
		}
	}()
	text, err := io.ReadAll(c.Reader)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("the connection does not end after %q", text)
	}
	_ = c.Close()
	svctest.Eventually(t, "the gateway has ended the connection", func() bool { return p.Inflight() == 0 && p.Connections() == 1 })
	p.SetVersion(shop, svc.Upstream{Status: svc.StatusArchived}) // it closes the spare connections
	p.fence(t)
	now.mu.Lock()
	defer now.mu.Unlock()
	list := p.seen.take()
	return newOutcome(now, text, err != nil, list)
}

// fence waits until the runtime has served all connections that were made before.
func (p *pair) fence(t *testing.T) {
	c, err := new(net.Dialer).DialContext(t.Context(), "unix", p.socket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, _ = io.WriteString(c, fenceHead)
	n := svctest.Wait(t, "the runtime accepts a connection", p.fences)
	svctest.Eventually(t, "the runtime has no connections", func() bool { return p.ended.Load() == n })
}

const fenceHead = "FENCE / HTTP/1.1\r\nHost: x\r\n\r\n"

// serve runs the runtime's side of a connection. It reports whether the connection is a fence.
func (p *pair) serve(s *stream) bool {
	for {
		head, ok := s.head()
		if !ok || string(head) == fenceHead {
			return ok
		}
		if in := p.plan.Load(); !in.answer(s, head, p.pause) {
			return false
		}
	}
}

// answer answers a request, and reports whether the connection stays open.
func (in *plan) answer(s *stream, head []byte, pause func()) bool {
	var req http1.Request
	if err := req.Parse(head); err != nil {
		in.got(fmt.Sprintf("invalid request %q: %v", head, err))
		return false
	}
	body, ok := s.body(&req.Fields, req.HasBody())
	if !ok {
		in.got(in.plain(head) + "incomplete")
		return false
	}
	in.got(in.plain(head) + digest(body))
	end := endOf(in.runtime, req.Method)
	pieces(rand.New(rand.NewPCG(in.seed, 2)), in.runtime[:end.n], end.whole, s, pause)
	if end.upgrade {
		rest, _ := io.ReadAll(s.Conn)
		in.frames(string(s.buf) + string(rest))
	}
	return end.keep
}

func (in *plan) got(text string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.received = append(in.received, text)
}

func (in *plan) frames(text string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.up = text
}

// ids are what the gateway makes: ids of requests and traces.
var ids = regexp.MustCompile("[0-9a-f]{16,}")

// plain returns b without the ids that the gateway has made.
func (in *plan) plain(b []byte) string {
	return ids.ReplaceAllStringFunc(string(b), func(id string) string {
		if bytes.Contains(in.client, []byte(id)) || bytes.Contains(in.runtime, []byte(id)) {
			return id
		}
		return "…"
	})
}
