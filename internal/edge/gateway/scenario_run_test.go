package gateway_test

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"net/textproto"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/edge/gateway"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// rig is a gateway with a runtime that runs scenarios.
type rig struct {
	*bench
	observer *observer

	asks sync.Map // *ask by id
}

// view is the observed result of a request.
type view struct {
	interim, answered  chan struct{} // closed when the client has a 100, or the response
	begun, half, ended chan struct{} // closed when the runtime has the head, half of the body, the end of the body

	head  string // that the runtime received, normalized
	body  string // that the runtime received
	whole bool
}

func newView() *view {
	return &view{interim: make(chan struct{}), answered: make(chan struct{}), begun: make(chan struct{}), half: make(chan struct{}), ended: make(chan struct{})}
}

func newRig(t *testing.T, engine gateway.Engine) *rig {
	r := &rig{observer: &observer{}}
	r.bench = start(t, gateway.Config{Engine: engine, Observer: r.observer})
	r.ready(shop, fakeRuntime(t, func(_ int, c *raw) { r.runtime(c) }))
	r.SetProduction("shop", "v1")
	return r
}

// runtime runs the runtime's side of one connection.
func (r *rig) runtime(c *raw) {
	for {
		head, fields, err := readHead(c.Reader)
		if err != nil {
			return
		}
		found, _ := r.asks.Load(fields.Get("X-Plan"))
		a, ok := found.(*ask)
		if !ok {
			c.t.Errorf("the runtime received a request that no client sent: %q %v", head, fields)
			return
		}
		if trace := fields.Get("Traceparent"); len(trace) > 52 { // its parent is another one for each request
			fields.Set("Traceparent", trace[:36]+"…"+trace[52:])
		}
		a.view.head = normal(head, fields)
		close(a.view.begun)
		for _, head := range a.answer.interim {
			_, _ = c.Write([]byte(head))
		}
		if a.answer.early {
			if r.reply(c, a); a.answer.close {
				close(a.view.half)
				a.view.got("", nil)
				if unix, ok := c.Conn.(*net.UnixConn); ok {
					_ = unix.CloseWrite() // a body that was not read would make Close a reset
				}
				_, _ = io.Copy(io.Discard, c.Conn)
				return
			}
		}
		r.readBody(c, a, fields)
		if a.answer.never {
			_, _ = io.Copy(io.Discard, c.Conn)
			return
		}
		if a.frames {
			r.reply(c, a)
			b := make([]byte, len(clientFrames))
			_, err := io.ReadFull(c.Reader, b)
			a.view.got(string(b), err)
			_, _ = c.Write([]byte(runtimeFrames))
			return
		}
		if !a.answer.early {
			r.reply(c, a)
		}
		if a.answer.close {
			return
		}
	}
}

func (r *rig) reply(c *raw, a *ask) {
	_, _ = c.Write([]byte(a.answer.head))
	for _, piece := range a.answer.body {
		runtime.Gosched()
		_, _ = c.Write([]byte(piece))
	}
}

func (r *rig) readBody(c *raw, a *ask, fields http.Header) {
	body := bodyReader(c.Reader, fields)
	half := io.LimitReader(body, int64(a.size/2))
	first, _ := io.ReadAll(half)
	close(a.view.half)
	rest, err := io.ReadAll(body)
	if fields.Get("Transfer-Encoding") != "" && err == nil {
		_, err = textproto.NewReader(c.Reader).ReadMIMEHeader() // the trailers
	}
	switch {
	case a.frames:
	case a.answer.early: // the size of the part that arrives depends on timing
		a.view.got("", nil)
	default:
		a.view.got(string(first)+string(rest), err)
	}
}

func (v *view) got(body string, err error) {
	if v.whole = err == nil; v.whole { // else the size of the part depends on timing
		v.body = body
	}
	close(v.ended)
}

// bodyReader reads a body according to its framing, without the trailers.
func bodyReader(in *bufio.Reader, fields http.Header) io.Reader {
	if fields.Get("Transfer-Encoding") != "" {
		return httputil.NewChunkedReader(in)
	}
	n, _ := strconv.ParseInt(fields.Get("Content-Length"), 10, 64)
	return &exactly{in, n}
}

// exactly reads n bytes; fewer bytes are an error.
type exactly struct {
	r io.Reader
	n int64
}

func (e *exactly) Read(p []byte) (int, error) {
	if e.n == 0 {
		return 0, io.EOF
	}
	n, err := e.r.Read(p[:min(int64(len(p)), e.n)])
	if e.n -= int64(n); err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// readHead reads a head strictly: lines with CR LF, one field each.
func readHead(in *bufio.Reader) (first string, fields http.Header, err error) {
	fields = http.Header{}
	for n := 0; ; n++ {
		line, err := in.ReadString('\n')
		if err != nil {
			return first, nil, err
		}
		line, ok := strings.CutSuffix(line, "\r\n")
		name, value, colon := strings.Cut(line, ":")
		switch {
		case !ok:
			return first, nil, fmt.Errorf("a line without CR LF: %q", line)
		case n == 0:
			first = line
		case line == "":
			return first, fields, nil
		case !colon:
			return first, nil, fmt.Errorf("no field: %q", line)
		default:
			fields.Add(name, strings.TrimSpace(value))
		}
	}
}

// play runs a scenario and returns the observations of client, runtime and observer.
func (r *rig) play(t *testing.T, s *scenario) []string {
	c := r.raw(t)
	defer c.Close()
	for _, a := range s.asks {
		a.view = newView()
		r.asks.Store(a.id, a)
	}
	cl := &client{raw: c, s: s}
	read := make(chan struct{})
	go func() { defer close(read); cl.read() }()
	cl.write()
	svctest.Wait(t, s.asks[0].id+": the responses", read)
	c.Close() // the gateway may wait for the client
	svctest.Eventually(t, s.asks[0].id+": every request is over", func() bool { return r.Inflight() == 0 && r.Websockets() == 0 })
	return strings.Split(cl.log.String()+r.report(t, s), "\n")
}

// report returns the observations of runtime and observer, and removes the scenario.
func (r *rig) report(t *testing.T, s *scenario) string {
	var b strings.Builder
	for _, a := range s.asks {
		r.asks.Delete(a.id)
		select {
		case <-a.view.begun:
			svctest.Wait(t, a.id+": the runtime has the body, or not", a.view.ended)
			fmt.Fprintf(&b, "runtime received %s: whole %v\n%s%s\n", a.id, a.view.whole, a.view.head, digest([]byte(a.view.body)))
		default:
		}
	}
	for _, o := range r.observer.take() {
		fmt.Fprintf(&b, "observed %v %s %d %s\n", o.Ref, o.Role, o.Status, o.Error)
	}
	return b.String()
}

func (o *observer) take() []gateway.Observation {
	o.mu.Lock()
	defer o.mu.Unlock()
	defer func() { o.requests, o.sockets = nil, nil }()
	return o.requests
}

// client runs the client's side: one goroutine writes, one reads.
type client struct {
	*raw
	s   *scenario
	log strings.Builder // what was read
}

func (cl *client) write() {
	for i, a := range cl.s.asks {
		if cl.pieces(a, a.head); a.expect {
			await(a.view.interim, a.view.answered)
			select {
			case <-a.view.interim:
			default:
				return // refused: the body stays here
			}
		}
		if a.slow > 0 {
			cl.pieces(a, a.body[:a.slow])
			await(a.view.half, a.view.answered)
		}
		cl.pieces(a, a.body[a.slow:])
		if cl.s.hangUp && i == len(cl.s.asks)-1 {
			if i > 0 {
				await(cl.s.asks[i-1].view.answered, nil)
			}
			await(a.view.begun, a.view.answered)
			_ = cl.Close()
			return
		}
		if a.alone {
			await(a.view.answered, nil)
		}
	}
}

// pieces writes text in pieces. It ignores errors: if the gateway has closed the
// connection already, the responses show it.
func (cl *client) pieces(a *ask, text string) {
	for n := a.cuts; n > 0 && len(text) > n; n-- {
		k := len(text) / (n + 1)
		_, _ = cl.Write([]byte(text[:k]))
		text = text[k:]
		runtime.Gosched()
	}
	_, _ = cl.Write([]byte(text))
}

func await(a, b <-chan struct{}) {
	select {
	case <-a:
	case <-b:
	case <-time.After(timeout):
	}
}

func (cl *client) read() {
	for i, a := range cl.s.asks {
		ok := cl.answer(a)
		if close(a.view.answered); !ok {
			for _, rest := range cl.s.asks[i+1:] {
				close(rest.view.answered)
			}
			return
		}
	}
	if cl.s.asks[len(cl.s.asks)-1].ends {
		rest, err := io.ReadAll(cl.Reader)
		fmt.Fprintf(&cl.log, "end: %q %v\n", rest, err)
	}
}

// answer reads one response. It reports whether another one may follow.
func (cl *client) answer(a *ask) bool {
	for {
		first, fields, err := readHead(cl.Reader)
		if err != nil {
			fmt.Fprintf(&cl.log, "%s: no answer\n", a.id)
			return false
		}
		status := first[len("HTTP/1.x ") : len("HTTP/1.x ")+3]
		fmt.Fprintf(&cl.log, "%s: %s\n%s", a.id, status, answerFields(status, fields))
		switch {
		case status == "101":
			_, _ = cl.Write([]byte(clientFrames[len(a.body):]))
			rest, _ := io.ReadAll(cl.Reader)
			fmt.Fprintf(&cl.log, "%q\n", rest)
			return false
		case status[0] == '1':
			if status == "100" {
				close(a.view.interim)
			}
			continue
		}
		err = cl.answerBody(a, status, fields)
		fmt.Fprintf(&cl.log, "\nwhole %v\n", err == nil)
		return err == nil
	}
}

func (cl *client) answerBody(a *ask, status string, fields http.Header) error {
	if a.method == http.MethodHead || status == "204" || status == "304" {
		return nil
	}
	var body io.Reader = cl.Reader // up to its end
	if fields.Get("Transfer-Encoding") != "" || fields.Get("Content-Length") != "" {
		body = bodyReader(cl.Reader, fields)
	}
	b, err := io.ReadAll(body)
	if cl.log.WriteString(digest(b)); err == nil && fields.Get("Transfer-Encoding") != "" {
		var trailers textproto.MIMEHeader
		trailers, err = textproto.NewReader(cl.Reader).ReadMIMEHeader()
		fmt.Fprintf(&cl.log, "\ntrailers %v", trailers)
	}
	return err
}

// digest returns a body in the form for reports.
func digest(b []byte) string {
	if len(b) > 300 {
		return fmt.Sprintf("body of %d bytes, %x", len(b), sha256.Sum256(b))
	}
	return fmt.Sprintf("body %q", b)
}

// normal returns a head without what may differ between engines and has no meaning:
// the order of fields of different names, and the case of names.
func normal(first string, fields http.Header) string {
	var b strings.Builder
	fmt.Fprintln(&b, first)
	if fields.Get("Pragma") != "" {
		fields.Del("Cache-Control") // net/http adds one
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		fmt.Fprintf(&b, "%s: %q\n", name, fields[name])
	}
	return b.String()
}

// answerFields returns the fields of a response without those that may differ: see
// TestDifferences.
func answerFields(status string, fields http.Header) string {
	fields.Del("Connection") // the test compares whether the connection ends
	switch status {
	case "304":
		fields.Del("Content-Type")
		fallthrough
	case "204":
		fields.Del("Content-Length")
	}
	return normal("", fields)
}
