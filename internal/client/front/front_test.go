package front_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"

	"github.com/svcctl/svcctl/internal/client/front"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// world is a front with two versions behind it.
type world struct {
	t     *testing.T
	front *front.Front
	url   string
}

func newWorld(t *testing.T, c front.Config) *world {
	t.Helper()
	c.Logger = slog.New(slog.DiscardHandler)
	f := front.New(c)
	s := httptest.NewServer(f)
	t.Cleanup(func() { f.Close(); s.Close() })
	return &world{t, f, s.URL}
}

// version starts a version that h answers for.
func (w *world) version(id string, h http.HandlerFunc) front.Target {
	w.t.Helper()
	s := httptest.NewServer(h)
	w.t.Cleanup(s.Close)
	u, err := url.Parse(s.URL)
	if err != nil {
		w.t.Fatal(err)
	}
	return front.Target{Version: id, URL: u, Header: http.Header{"X-Version": {id}}}
}

func text(s string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, s) }
}

func (w *world) get(path string, headers ...string) (status int, body string) {
	w.t.Helper()
	resp := w.send(path, headers...)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Error(err)
	}
	return resp.StatusCode, string(b)
}

func (w *world) send(path string, headers ...string) *http.Response {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, w.url+path, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ":")
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		w.t.Fatal(err)
	}
	return resp
}

// The version sees the client's own host, path and query.
func TestForward(t *testing.T) {
	t.Parallel()
	w := newWorld(t, front.Config{})
	w.front.Switch(w.version("one", func(rw http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprint(rw, r.Host, " ", r.RequestURI, " ", r.Header.Get("X-Version"), " ", r.Header.Get("X-Forwarded-For"))
	}))
	w.front.Release()
	want := strings.TrimPrefix(w.url, "http://") + " /a%2Fb//c?x=%zz;&y one 127.0.0.1"
	if _, body := w.get("/a%2Fb//c?x=%zz;&y"); body != want {
		t.Errorf("%q, want %q", body, want)
	}
}

// A version with a host name of its own sees that, and the client sees the front's.
func TestOtherHost(t *testing.T) {
	t.Parallel()
	w := newWorld(t, front.Config{})
	target := w.version("one", func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Location", "http://one.shop.test/next?x")
		rw.Header().Add("Set-Cookie", "a=b; Domain=one.shop.test; Path=/; Secure; HttpOnly")
		rw.Header().Add("Set-Cookie", "c=d")
		rw.WriteHeader(http.StatusSeeOther)
		_, _ = fmt.Fprint(rw, r.Host, " ", r.Header.Get("Origin"), " ", r.Header.Get("Referer"))
	})
	target.Host = "one.shop.test"
	w.front.Switch(target)
	w.front.Release()
	resp := w.send("/", "Origin:"+w.url, "Referer:http://elsewhere.test/")
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil || string(body) != "one.shop.test http://one.shop.test http://elsewhere.test/" {
		t.Errorf("%q %v", body, err)
	}
	if got := resp.Header.Get("Location"); got != w.url+"/next?x" {
		t.Error(got)
	}
	if got := strings.Join(resp.Header["Set-Cookie"], "|"); got != "a=b; Path=/; Secure; HttpOnly|c=d" {
		t.Error(got)
	}
}

// The paths that wrangler dev has for the scheduled handler run it; any other path is the worker's.
func TestCron(t *testing.T) {
	t.Parallel()
	var got front.Cron
	failure := error(nil)
	w := newWorld(t, front.Config{Cron: func(_ context.Context, c front.Cron) (string, error) {
		got = c
		return "ok", failure
	}})
	w.front.Switch(w.version("one", text("worker")))
	w.front.Release()
	if status, body := w.get("/__scheduled?cron=*+*+*+*+*"); status != 200 || body != "ok\n" || got != (front.Cron{Version: "one", Expression: "* * * * *"}) {
		t.Errorf("%d %q %+v", status, body, got)
	}
	failure = errors.New("boom")
	if status, body := w.get("/cdn-cgi/handler/scheduled?time=1745856238000"); status != 500 || body != "ok: boom\n" || got.At.UnixMilli() != 1745856238000 {
		t.Errorf("%d %q %+v", status, body, got)
	}
	if status, _ := w.get("/__scheduled?time=noon"); status != 400 {
		t.Errorf("a time that is none: %d", status)
	}
	if _, body := w.get("/__scheduled/x"); body != "worker" {
		t.Error(body)
	}
}

// Requests wait for the first version, and during a switch; those in flight end where
// they began.
func TestHold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, front.Config{})
	answers := make(chan string, 2)
	ask := func() { _, body := w.get("/"); answers <- body }
	go ask()
	arrived, goOn := make(chan struct{}), make(chan struct{})
	w.front.Switch(w.version("one", func(rw http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-goOn
		_, _ = io.WriteString(rw, "one")
	}))
	w.front.Release()
	svctest.Wait(t, "the request", arrived)
	w.front.Hold()
	ended, cancel := context.WithCancelCause(t.Context())
	errOver := errors.New("over")
	cancel(errOver)
	if err := w.front.Drain(ended); !errors.Is(err, errOver) {
		t.Errorf("drained a request in flight: %v", err)
	}
	go ask() // waits
	drained := make(chan error, 1)
	go func() { drained <- w.front.Drain(t.Context()) }()
	close(goOn)
	if err := svctest.Wait(t, "the drain", drained); err != nil {
		t.Error(err)
	}
	if body := svctest.Wait(t, "the first answer", answers); body != "one" {
		t.Error(body)
	}
	w.front.Switch(w.version("two", text("two")))
	w.front.Release()
	if body := svctest.Wait(t, "the second answer", answers); body != "two" {
		t.Error(body)
	}
}

// A request is unanswered until its answer begins.
func TestDrainUnanswered(t *testing.T) {
	t.Parallel()
	w := newWorld(t, front.Config{})
	arrived, begin, end := make(chan struct{}), make(chan struct{}), make(chan struct{})
	w.front.Switch(w.version("one", func(rw http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-begin
		_ = http.NewResponseController(rw).Flush()
		<-end
		_, _ = io.WriteString(rw, "one")
	}))
	w.front.Release()
	answers := make(chan string, 1)
	go func() { _, body := w.get("/"); answers <- body }()
	svctest.Wait(t, "the request", arrived)
	w.front.Hold()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if w.front.DrainUnanswered(ended) == nil {
		t.Error("a request without an answer is not waited for")
	}
	drained := make(chan error, 1)
	go func() { drained <- w.front.DrainUnanswered(t.Context()) }()
	close(begin)
	if err := svctest.Wait(t, "the begin of the answer", drained); err != nil {
		t.Error(err)
	}
	if w.front.Drain(ended) == nil {
		t.Error("an answer that has not ended is not waited for")
	}
	close(end)
	if body := svctest.Wait(t, "the answer", answers); body != "one" {
		t.Error(body)
	}
}

// A request that waits ends with its client.
func TestHeldClientLeaves(t *testing.T) {
	t.Parallel()
	finished := make(chan front.Request, 1)
	w := newWorld(t, front.Config{Finished: func(r front.Request) { finished <- r }})
	ctx, cancel := context.WithCancel(t.Context())
	req := httptest.NewRequestWithContext(ctx, http.MethodGet, "/x", nil)
	go w.front.ServeHTTP(httptest.NewRecorder(), req)
	cancel()
	if r := svctest.Wait(t, "the end", finished); r.Status != 0 || r.Path != "/x" {
		t.Errorf("%+v", r)
	}
}

// An open event stream or websocket does not delay a switch.
func TestEndlessAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, front.Config{})
	w.front.Switch(w.version("one", func(rw http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") == "" {
			rw.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(rw, "data: 1\n\n")
			_ = http.NewResponseController(rw).Flush()
			<-r.Context().Done()
			return
		}
		c, err := websocket.Accept(rw, r, nil)
		if err != nil {
			return
		}
		kind, data, err := c.Read(r.Context())
		if err == nil {
			_ = c.Write(r.Context(), kind, data)
		}
		_, _, _ = c.Read(r.Context())
		_ = c.CloseNow()
	}))
	w.front.Release()
	stream := w.send("/events")
	defer stream.Body.Close()
	if line, err := bufio.NewReader(stream.Body).ReadString('\n'); err != nil || line != "data: 1\n" {
		t.Fatal(line, err)
	}
	c, resp, err := websocket.Dial(t.Context(), w.url+"/ws", nil)
	if err != nil {
		t.Fatal(err)
	}
	if resp.Body != nil {
		defer resp.Body.Close()
	}
	defer c.CloseNow()
	if err := c.Write(t.Context(), websocket.MessageText, []byte("hi")); err != nil {
		t.Fatal(err)
	}
	if _, data, err := c.Read(t.Context()); err != nil || string(data) != "hi" {
		t.Fatal(string(data), err)
	}
	w.front.Hold()
	if err := w.front.Drain(t.Context()); err != nil {
		t.Error(err)
	}
}

// Under load, no request fails, and none goes back to an older version.
func TestSwitchUnderLoad(t *testing.T) {
	t.Parallel()
	w := newWorld(t, front.Config{})
	const versions = 50
	var mu sync.Mutex
	serving := 0
	w.front.Switch(w.version("0", text("0")))
	w.front.Release()
	stop := make(chan struct{})
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				mu.Lock()
				least := serving
				mu.Unlock()
				status, body := w.get("/")
				var got int
				if n, err := fmt.Sscan(body, &got); n != 1 || err != nil || status != 200 || got < least {
					t.Errorf("%d %q, want at least %d", status, body, least)
					return
				}
			}
		})
	}
	for i := 1; i <= versions; i++ {
		next := w.version(fmt.Sprint(i), text(fmt.Sprint(i)))
		w.front.Hold()
		if err := w.front.Drain(t.Context()); err != nil {
			t.Error(err)
		}
		w.front.Switch(next)
		w.front.Release()
		mu.Lock()
		serving = i
		mu.Unlock()
	}
	close(stop)
	clients.Wait()
}
