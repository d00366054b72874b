package s3fault_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/objstore/objstoretest"
	"github.com/svcctl/svcctl/internal/data/s3/s3fault"
	"github.com/svcctl/svcctl/internal/data/s3/s3test"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestMain(m *testing.M) { s3test.Main(m, nil) }

// fake is an object store: bodies by path. It notes truncated bodies, and a listing
// is the list of PUTs.
type fake struct {
	mu      sync.Mutex
	objects map[string]string
	puts    []string // the request URIs, in order
	short   []int    // of bodies that ended too early
	host    string
	arrived chan string // every request, as method and URI
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.host = r.Host
	switch {
	case err != nil:
		f.short = append(f.short, len(body))
	case r.Method == http.MethodPut:
		f.objects[r.RequestURI] = string(body)
		f.puts = append(f.puts, r.RequestURI)
	case r.URL.Query().Has("list-type"):
		fmt.Fprint(w, strings.Join(f.puts, " "))
	default:
		w.Header().Set("Content-Length", fmt.Sprint(len(f.objects[r.RequestURI])))
		fmt.Fprint(w, f.objects[r.RequestURI])
	}
	f.arrived <- r.Method + " " + r.RequestURI
}

// world is a proxy, the object store behind it, and a client without retries.
type world struct {
	*s3fault.Proxy
	store  *fake
	client *http.Client
}

func start(t *testing.T) *world {
	t.Helper()
	f := &fake{objects: map[string]string{}, arrived: make(chan string, 1000)}
	srv := httptest.NewServer(f)
	t.Cleanup(srv.Close)
	return &world{s3fault.Start(t, srv.URL), f, &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
}

// ask sends one request and returns status and body.
func (w *world) ask(ctx context.Context, method, path, body string, headers ...string) (status int, got string, err error) {
	req, err := http.NewRequestWithContext(ctx, method, w.Endpoint()+path, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := w.client.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(data), err
}

func (w *world) mustAsk(t *testing.T, method, path, body string) string {
	t.Helper()
	status, got, err := w.ask(t.Context(), method, path, body)
	if err != nil || status != http.StatusOK {
		t.Fatalf("%s %s: %d, %v", method, path, status, err)
	}
	return got
}

// seen is how many requests have reached the object store.
func (w *world) seen() int { return len(w.store.arrived) }

func TestRefusals(t *testing.T) {
	t.Parallel()
	for kind, want := range map[s3fault.Kind]struct {
		status int
		code   string
	}{
		s3fault.ServerError: {500, "InternalError"},
		s3fault.SlowDown:    {503, "SlowDown"},
		s3fault.Conflict:    {409, "ConditionalRequestConflict"},
	} {
		w := start(t)
		w.Next(kind)
		status, body, err := w.ask(t.Context(), "PUT", "/b/k", "hello", "If-None-Match", "*")
		if err != nil || status != want.status || !strings.Contains(body, "<Code>"+want.code+"</Code>") || w.seen() != 0 {
			t.Errorf("%v: %d %q, %v; the object store saw %d requests", kind, status, body, err, w.seen())
		}
		w.mustAsk(t, "PUT", "/b/k", "hello") // the next one passes
	}
}

func TestRefusalOfHead(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.Next(s3fault.SlowDown)
	if status, body, err := w.ask(t.Context(), "HEAD", "/b/k", ""); status != 503 || body != "" || err != nil {
		t.Errorf("%d %q %v", status, body, err)
	}
}

func TestResets(t *testing.T) {
	t.Parallel()
	for kind, stored := range map[s3fault.Kind]string{s3fault.ResetBefore: "", s3fault.ResetAfter: "hello", s3fault.TornUpload: ""} {
		w := start(t)
		w.Next(kind)
		if _, _, err := w.ask(t.Context(), "PUT", "/b/k", "hello"); !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, io.EOF) {
			t.Errorf("%v: %v", kind, err)
		}
		w.Wait()
		if got := w.mustAsk(t, "GET", "/b/k", ""); got != stored {
			t.Errorf("%v: the object store has %q", kind, got)
		}
	}
}

// TestTornUpload: the object store gets the first half of a body of any size, and
// sees that it is truncated.
func TestTornUpload(t *testing.T) {
	t.Parallel()
	w := start(t)
	for _, size := range []int{1, 10, 100_000, 5_000_000} {
		w.Next(s3fault.TornUpload)
		if _, _, err := w.ask(t.Context(), "PUT", "/b/k", strings.Repeat("x", size)); err == nil {
			t.Errorf("%d bytes: the client got an answer", size)
		}
		<-w.store.arrived
	}
	if want := []int{0, 5, 50_000, 2_500_000}; !slices.Equal(w.store.short, want) {
		t.Errorf("the object store got %v bytes, want %v", w.store.short, want)
	}
}

func TestTornDownload(t *testing.T) {
	t.Parallel()
	w := start(t)
	for _, size := range []int{1, 10, 1_000_000} {
		w.mustAsk(t, "PUT", "/b/k", strings.Repeat("x", size))
		w.Next(s3fault.TornDownload)
		status, body, err := w.ask(t.Context(), "GET", "/b/k", "")
		if size < 1000 && (status != 200 || len(body) != size/2) || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d bytes: %d, %d bytes, %v", size, status, len(body), err)
		}
	}
	w.Next(s3fault.TornDownload) // of a listing
	if _, _, err := w.ask(t.Context(), "GET", "/b?list-type=2", ""); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("listing: %v", err)
	}
}

// TestLateWrite: the client gets a reset; the write arrives after the client's next
// request.
func TestLateWrite(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.Set(s3fault.Faults{Delay: 3 * time.Second})
	w.Next(s3fault.Late)
	if _, _, err := w.ask(t.Context(), "PUT", "/b/k", "old"); err == nil {
		t.Fatal("the client got an answer")
	}
	w.mustAsk(t, "PUT", "/b/k", "new")
	w.Wait()
	if got := w.mustAsk(t, "GET", "/b/k", ""); got != "old" {
		t.Errorf("the object store has %q", got)
	}
}

func TestLateWriteThatNeverArrives(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.Set(s3fault.Faults{Delay: time.Hour})
	w.Next(s3fault.Late)
	if _, _, err := w.ask(t.Context(), "PUT", "/b/k", "x"); err == nil {
		t.Fatal("the client got an answer")
	}
	w.Close() // waits for requests in progress
	if w.seen() != 0 {
		t.Error("the write arrived")
	}
}

func TestHang(t *testing.T) {
	t.Parallel()
	for kind, seen := range map[s3fault.Kind]int{s3fault.Hang: 0, s3fault.HangAfter: 1} {
		w := start(t)
		w.Next(kind)
		ctx, cancel := context.WithCancel(t.Context())
		answered := make(chan error, 1)
		go func() {
			_, _, err := w.ask(ctx, "PUT", "/b/k", strings.Repeat("x", 100_000))
			answered <- err
		}()
		svctest.Eventually(t, "the request to hang", func() bool { return w.Counts().Injected() == 1 && w.seen() == seen })
		cancel()
		if err := <-answered; !errors.Is(err, context.Canceled) {
			t.Errorf("%v: %v", kind, err)
		}
		w.Wait() // the proxy notices the disconnect
		if w.seen() != seen {
			t.Errorf("%v: the object store saw %d requests", kind, w.seen())
		}
	}
}

func TestSlowBodies(t *testing.T) {
	t.Parallel()
	const d = 160 * time.Millisecond
	body := strings.Repeat("x", 100_001)
	for kind, method := range map[s3fault.Kind]string{s3fault.SlowUpload: "PUT", s3fault.SlowDownload: "GET"} {
		w := start(t)
		w.mustAsk(t, "PUT", "/b/k", body)
		w.Set(s3fault.Faults{Slow: d})
		w.Next(kind)
		begin := time.Now()
		w.mustAsk(t, method, "/b/k", body)
		if took := time.Since(begin); took < d {
			t.Errorf("%v took %v", kind, took)
		}
		if w.store.objects["/b/k"] != body {
			t.Errorf("%v: the object store has %d bytes", kind, len(w.store.objects["/b/k"]))
		}
	}
}

func TestStaleList(t *testing.T) {
	t.Parallel()
	w := start(t)
	const list = "/b?list-type=2&prefix=p"
	w.Set(s3fault.Faults{Rate: 1, Kinds: []s3fault.Kind{s3fault.StaleList}, Stale: time.Hour})
	if got := w.mustAsk(t, "GET", list, ""); got != "" {
		t.Fatalf("listed %q", got) // no earlier listing exists
	}
	w.mustAsk(t, "PUT", "/b/p1", "x")
	if got := w.mustAsk(t, "GET", list, ""); got != "" {
		t.Errorf("not stale: %q", got)
	}
	if got := w.mustAsk(t, "GET", list+"0", ""); got != "/b/p1" {
		t.Errorf("another listing: %q", got)
	}
	w.Set(s3fault.Faults{Rate: 1, Kinds: []s3fault.Kind{s3fault.StaleList}, Stale: time.Nanosecond})
	if got := w.mustAsk(t, "GET", list, ""); got != "/b/p1" {
		t.Errorf("staler than allowed: %q", got)
	}
}

func TestDown(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.Next(s3fault.HangAfter)
	broken := make(chan error, 1)
	go func() {
		_, _, err := w.ask(t.Context(), "PUT", "/b/k", "x")
		broken <- err
	}()
	<-w.store.arrived
	w.Down(true)
	if err := <-broken; err == nil {
		t.Error("a request in progress was answered")
	}
	if _, _, err := w.ask(t.Context(), "GET", "/b/k", ""); err == nil {
		t.Error("a new request was answered")
	}
	if w.seen() != 0 {
		t.Error("a request reached the object store")
	}
	w.Down(false)
	w.mustAsk(t, "PUT", "/b/k", "x")
}

func TestLatency(t *testing.T) {
	t.Parallel()
	w := start(t)
	for _, d := range []time.Duration{time.Millisecond, 20 * time.Millisecond} {
		w.Set(s3fault.Faults{Latency: d})
		begin := time.Now()
		w.mustAsk(t, "GET", "/b/k", "")
		if took := time.Since(begin); took < d {
			t.Errorf("%v: took %v", d, took)
		}
	}
}

// TestSeed: a seed decides which faults are injected, and only faults that apply are.
func TestSeed(t *testing.T) {
	t.Parallel()
	run := func(seed uint64) (faults []string, c s3fault.Counts) {
		w := start(t)
		w.Set(s3fault.Faults{Seed: seed, Rate: .5, Kinds: []s3fault.Kind{
			s3fault.ServerError, s3fault.SlowDown, s3fault.ResetBefore, s3fault.TornUpload, s3fault.Conflict,
		}})
		for range 60 {
			status, _, err := w.ask(t.Context(), "GET", "/b/k", "")
			faults = append(faults, fmt.Sprint(status, err != nil))
		}
		return faults, w.Counts()
	}
	first, c := run(7)
	again, _ := run(7)
	other, _ := run(8)
	if !slices.Equal(first, again) || slices.Equal(first, other) {
		t.Errorf("seed 7: %v\n again: %v\nseed 8: %v", first, again, other)
	}
	if n := c.Injected(); n < 15 || n > 45 || c.Faults[s3fault.TornUpload]+c.Faults[s3fault.Conflict] > 0 || len(c.Faults) != 3 {
		t.Errorf("%v", c.Faults)
	}
}

// TestNextWaits: a fault waits for a request that it applies to.
func TestNextWaits(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.Next(s3fault.None, s3fault.Conflict, s3fault.SlowDown)
	for i, want := range []struct{ method, header, status string }{
		{"GET", "", "200"}, {"GET", "", "200"}, {"PUT", "", "200"}, {"PUT", "If-Match", "409"}, {"GET", "", "503"}, {"GET", "", "200"},
	} {
		var headers []string
		if want.header != "" {
			headers = []string{want.header, `"x"`}
		}
		if status, _, err := w.ask(t.Context(), want.method, "/b/k", "x", headers...); fmt.Sprint(status) != want.status || err != nil {
			t.Errorf("request %d: %d, %v, want %s", i, status, err, want.status)
		}
	}
}

func TestMatch(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.Set(s3fault.Faults{Rate: 1, Kinds: []s3fault.Kind{s3fault.SlowDown}, Match: func(r *http.Request) bool { return r.URL.Path == "/b/bad" }})
	w.mustAsk(t, "GET", "/b/good", "")
	if status, _, _ := w.ask(t.Context(), "GET", "/b/bad", ""); status != 503 {
		t.Errorf("status %d", status)
	}
}

func TestCounts(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.mustAsk(t, "PUT", "/b/k", "0123456789")
	before := w.Counts()
	w.mustAsk(t, "GET", "/b/k", "")
	w.mustAsk(t, "PUT", "/b/k2", "xyz")
	w.mustAsk(t, "GET", "/b?list-type=2", "")
	w.Next(s3fault.ResetBefore)
	if _, _, err := w.ask(t.Context(), "HEAD", "/b/k", ""); err == nil {
		t.Error("no reset")
	}
	c := w.Counts().Since(before)
	got := fmt.Sprint(c.Requests, c.Faults, c.Total(), c.Injected(), c.Up, c.Down)
	if want := "map[GET:1 HEAD:1 LIST:1 PUT:1] map[reset before:1] 4 1 3 20"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestBytesAreKept: Host, path, query and headers reach the object store unchanged.
func TestBytesAreKept(t *testing.T) {
	t.Parallel()
	w := start(t)
	for _, uri := range []string{"/b/a%20b%2Bc", "/b/a%2Fb", "/b/k?x=%2F&y", "/b/k?"} {
		w.mustAsk(t, "GET", uri, "")
		if got := <-w.store.arrived; got != "GET "+uri {
			t.Errorf("%s became %s", uri, got)
		}
	}
	u, err := url.Parse(w.Endpoint())
	if err != nil || w.store.host != u.Host {
		t.Errorf("Host %q, want %q (%v)", w.store.host, u.Host, err)
	}
}

func TestBadTargets(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"", "ftp://x", "unix:", "http://", "127.0.0.1:1", "://"} {
		if p, err := s3fault.New(target); err == nil {
			p.Close()
			t.Errorf("%q was accepted", target)
		}
	}
}

// TestStoreIsGone: when the object store is not reachable the connection breaks.
func TestStoreIsGone(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{s3fault.Start(t, "http://"+l.Addr().String()), nil, &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
	l.Close()
	if _, _, err := w.ask(t.Context(), "GET", "/b/k", ""); !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, io.EOF) {
		t.Errorf("%v", err)
	}
}

// TestSigned runs the contract of objstore through a proxy without faults: the
// signatures of clients stay valid.
func TestSigned(t *testing.T) {
	t.Parallel()
	c := s3test.Target(t)
	p := s3fault.Start(t, c.Endpoint)
	c.Endpoint = p.Endpoint()
	b, _ := s3test.Bucket(t, c)
	objstoretest.Run(t, b)
	if n := p.Counts(); n.Requests["PUT"] == 0 || n.Requests["LIST"] == 0 || n.Up < 2e6 || n.Down < 1e6 || n.Injected() > 0 {
		t.Errorf("%+v", n)
	}
}

// TestUnderTheClient: the S3 client retries faults itself; only when its first
// attempt had effect does it report ErrPrecondition.
func TestUnderTheClient(t *testing.T) {
	t.Parallel()
	target := s3test.Target(t)
	for kind, want := range map[s3fault.Kind]error{
		s3fault.ServerError: nil, s3fault.SlowDown: nil, s3fault.ResetBefore: nil, s3fault.TornUpload: nil, s3fault.SlowUpload: nil,
		s3fault.ResetAfter: objstore.ErrPrecondition, s3fault.Conflict: objstore.ErrPrecondition,
	} {
		t.Run(kind.String(), func(t *testing.T) {
			t.Parallel()
			p := s3fault.Start(t, target.Endpoint)
			c := target
			c.Endpoint = p.Endpoint()
			b, _ := s3test.Bucket(t, c)
			p.Next(kind)
			if _, err := b.Put(t.Context(), "k", strings.NewReader("hello"), 5, objstore.Condition{IfAbsent: true}); !errors.Is(err, want) {
				t.Errorf("%v, want %v", err, want)
			}
			if n := p.Counts(); n.Faults[kind] != 1 {
				t.Errorf("met %v", n.Faults)
			}
			data, _, err := objstore.Read(t.Context(), b, "k", 0, -1)
			if kind == s3fault.Conflict && !errors.Is(err, objstore.ErrNotExist) || kind != s3fault.Conflict && string(data) != "hello" {
				t.Errorf("the object store has %q, %v", data, err)
			}
		})
	}
}

var _ s3fault.TB = testing.TB(nil)
