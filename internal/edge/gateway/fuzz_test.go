package gateway_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/edge/gateway"
)

// witness is a runtime that answers every request, and checks that the gateway wrote it.
type witness struct {
	mu  sync.Mutex
	bad error
}

func (w *witness) serve(_ int, c *raw) {
	for {
		r, err := http.ReadRequest(c.Reader)
		if err != nil {
			return
		}
		if r.Header.Get("Expect") != "" {
			_, _ = io.WriteString(c.Conn, "HTTP/1.1 100 Continue\r\n\r\n") // as workerd: engine std waits for it
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		for _, name := range []string{"Traceparent", "X-Request-Id", "X-Svc-Cf", "X-Svc-Proto", "Cf-Connecting-Ip"} {
			if n := len(r.Header.Values(name)); n != 1 {
				w.note(fmt.Errorf("%s %s has %d fields %s", r.Method, r.URL, n, name))
			}
		}
		c.reply("200 OK", "")
	}
}

func (w *witness) note(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bad = errors.Join(w.bad, err)
}

func (w *witness) take() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer func() { w.bad = nil }()
	return w.bad
}

// FuzzConnection sends a whole connection, in pieces: several requests, bodies, mistakes.
// The gateway answers with responses and nothing else, and the runtime receives only
// requests that the gateway wrote: none is smuggled in.
func FuzzConnection(f *testing.F) {
	const host = " HTTP/1.1\r\nHost: v1.shop.apps.test\r\n"
	for i, text := range []string{
		"GET /" + host + "\r\nGET /2" + host + "Connection: close\r\n\r\n",
		"POST /" + host + "Content-Length: 3\r\n\r\nabcGET /" + host + "\r\n",
		"POST /" + host + "Transfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\nT: 1\r\n\r\nGET /" + host + "\r\n",
		"POST /" + host + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\nGET /smuggled" + host + "\r\n",
		"POST /" + host + "Content-Length: 4\r\nContent-Length: 40\r\n\r\nabcdGET /" + host + "\r\n",
		"POST /" + host + "Content-Length: 20\r\n\r\nshort",
		"GET /" + host + "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: x\r\n\r\n\x81\x02hi",
		"PUT /" + host + "Expect: 100-continue\r\nContent-Length: 2\r\n\r\nhiGET / HTTP/1.0\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: nothing.test\r\n\r\nOPTIONS *" + host + "\r\n\x00",
		"GET http://v1.shop.apps.test/" + host + "X-Svc-Cf: {}\r\nTraceparent: x\r\ntraceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n\r\n",
		"\r\n\r\nGET /" + host + " folded: 1\r\n\r\n",
	} {
		f.Add([]byte(text), uint16(i*13), uint8(i))
	}
	w := &witness{}
	socket := fakeRuntime(f, w.serve)
	const limit = 10 * time.Millisecond
	var benches [3]*bench
	for i, engine := range []gateway.Engine{gateway.EngineGo, gateway.EngineLoop, gateway.EngineStd} {
		benches[i] = start(f, gateway.Config{
			Engine: engine, ProbeTime: time.Millisecond,
			HeaderTimeout: limit, ClientTimeout: limit, IdleTimeout: limit, SweepEvery: limit, // or most inputs would wait for them
		})
		benches[i].ready(shop, socket)
	}
	f.Fuzz(func(t *testing.T, text []byte, cut uint16, engine uint8) {
		c := benches[int(engine)%len(benches)].raw(t)
		defer c.Close()
		at := int(cut) % (len(text) + 1)
		go func() { // a gateway that refuses need not read all of it
			_, _ = c.Write(text[:at])
			_, _ = c.Write(text[at:])
			if tcp, ok := c.Conn.(*net.TCPConn); ok {
				_ = tcp.CloseWrite()
			}
		}()
		if err := responses(c.Reader, bytes.Contains(text, []byte("HEAD"))); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if err := w.take(); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	})
}

// responses reads responses to the end of a connection. If some may be without their bodies,
// only the first one is checked.
func responses(r *bufio.Reader, bodiless bool) error {
	for n := 0; ; n++ {
		if _, err := r.Peek(1); err != nil { // the end, or a reset
			return nil //nolint:nilerr // both are allowed
		}
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			if bodiless && n > 0 || isReset(err) {
				return nil
			}
			return fmt.Errorf("response %d: %w", n, err)
		}
		_, err = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		if err != nil && !bodiless && !isReset(err) {
			return fmt.Errorf("body of response %d: %w", n, err)
		}
	}
}

// isReset reports whether the connection was reset, which it may be in the middle of a refusal.
func isReset(err error) bool { return errors.As(err, new(*net.OpError)) }
