package logs_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/lib/ring"
	"github.com/svcctl/svcctl/internal/server/logs"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// book is the log of one version, with both of its writers.
type book struct {
	t        *testing.T
	dir      string
	requests *logs.Recorder
	worker   *ring.Writer
	service  *logs.Service
	at       time.Time // of the next entry
}

var ref = svc.Ref{Project: "shop", Version: "v1"}

func newBook(t *testing.T, o ring.Options) *book {
	t.Helper()
	b := &book{t: t, dir: t.TempDir(), at: time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)}
	dir := func(svc.Ref) string { return b.dir }
	b.requests, b.service = logs.NewRecorder(dir, slog.New(slog.DiscardHandler)), logs.New(dir, dir)
	var err error
	if b.worker, err = ring.Open(b.dir, svc.LogsOfWorker, o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		b.requests.Close()
		_ = b.worker.Close()
	})
	return b
}

func (b *book) now() time.Time {
	b.at = b.at.Add(time.Millisecond)
	return b.at
}

// print adds a line of the worker.
func (b *book) print(id, level, message string) {
	source := svc.LogConsole
	if strings.HasPrefix(message, "throw") {
		source = svc.LogException
	}
	b.worker.Append(svc.AppendLog(nil, &svc.LogLine{Time: b.now(), Level: level, Source: source, RequestID: id, Message: message}))
}

// end adds a request that is over.
func (b *book) end(id, path string, status int) {
	i := &svc.Invocation{Kind: svc.LogRequest, Method: "GET", Path: path, Status: status, Outcome: "ok", ClientID: "client-" + id}
	b.requests.Record(ref, &svc.LogLine{Time: b.now(), Level: i.Level(), Source: svc.LogRequest, RequestID: id, Invocation: i})
}

// flush makes what was added readable.
func (b *book) flush() {
	b.t.Helper()
	b.requests.Forget(ref)
	if err := b.worker.Flush(); err != nil {
		b.t.Fatal(err)
	}
}

func short(e svc.LogEntry) string {
	if i := e.Invocation; i != nil {
		return fmt.Sprintf("%s=%d:%s", i.Path, i.Status, i.Outcome)
	}
	return e.Message
}

func (b *book) read(q svc.LogQuery) (string, string) {
	b.t.Helper()
	page, err := b.service.Read(b.t.Context(), ref, q)
	if err != nil {
		b.t.Fatal(err)
	}
	var list []string
	for _, e := range page.Entries {
		list = append(list, short(e))
	}
	return strings.Join(list, " "), page.Cursor
}

func (b *book) want(q svc.LogQuery, want string) (cursor string) {
	b.t.Helper()
	got, cursor := b.read(q)
	if got != want {
		b.t.Errorf("%+v: %q, want %q", q, got, want)
	}
	return cursor
}

func bigRing() ring.Options { return ring.Options{SegmentSize: 1 << 20, Segments: 2} }

// TestFilters: requests a to d, of which b and c overlap.
func TestFilters(t *testing.T) {
	t.Parallel()
	b := newBook(t, bigRing())
	b.print("", "log", "load")
	b.print("aaaa1111", "log", "a1")
	b.end("aaaa1111", "/a", 200)
	half := b.at
	b.print("bbbb2222", "log", "b1")
	b.print("cccc3333", "warn", "c1 Äpfel")
	b.print("bbbb2222", "error", "throw")
	b.end("bbbb2222", "/api/b?x=***", 500)
	b.end("cccc3333", "/api/c", 404)
	b.print("cccc3333", "debug", "c2-after")
	b.print("~1", "log", "cron")
	b.end("dddd4444", "/", 502)
	b.flush()
	all := "load a1 /a=200:ok b1 c1 Äpfel throw /api/b?x=***=500:exception /api/c=404:ok c2-after cron /=502:ok"
	b.want(svc.LogQuery{Tail: 100}, all)
	b.want(svc.LogQuery{Tail: 2}, "cron /=502:ok")
	b.want(svc.LogQuery{Tail: 1}, "/=502:ok")
	for want, q := range map[string]svc.LogQuery{
		"b1 throw /api/b?x=***=500:exception /=502:ok":                        {Status: "5xx"},
		"c1 Äpfel /api/c=404:ok c2-after":                                     {Status: "404"},
		"b1 throw /api/b?x=***=500:exception c1 Äpfel /api/c=404:ok c2-after": {Path: "/api/*"},
		"a1 /a=200:ok": {Path: "*a"},
		"/=502:ok":     {Path: "/"},
		"throw /api/b?x=***=500:exception /=502:ok":          {Level: "error"},
		"c1 Äpfel throw /api/b?x=***=500:exception /=502:ok": {Level: "warn"},
		"c1 Äpfel":                            {Search: "äPFEL"},
		"throw /api/b?x=***=500:exception":    {RequestID: "bbbb", Level: "error"},
		"b1 throw /api/b?x=***=500:exception": {RequestID: "bbbb222200000000"}, // as X-Request-Id has it
		"a1 /a=200:ok ":                       {RequestID: "client-aaaa1111"},
		"":                                    {RequestID: "eeee"},
		"b1 c1 Äpfel throw /api/b?x=***=500:exception /api/c=404:ok c2-after cron /=502:ok": {Since: half.Add(time.Millisecond)},
	} {
		q.Tail = 100
		b.want(q, strings.TrimSpace(want))
	}
	b.want(svc.LogQuery{Status: "5xx", Tail: 1}, "/=502:ok")
}

// TestCursor: each entry is read once, whatever was filtered and however small the pages.
func TestCursor(t *testing.T) {
	t.Parallel()
	b := newBook(t, bigRing())
	for i := range 20 {
		id := fmt.Sprintf("request%02d", i)
		b.print(id, "log", "one")
		b.print(id, "error", "two")
		b.end(id, "/"+id, 200+300*(i%2))
	}
	b.flush()
	begin := "v1.0.0"
	for _, q := range []svc.LogQuery{{}, {Level: "error"}, {Status: "500"}, {Path: "/*"}} {
		q.Cursor, q.Tail = begin, 1000
		want, _ := b.read(q)
		for tail := 1; tail < 8; tail++ {
			var got []string
			q.Cursor, q.Tail = begin, tail
			for {
				page, cursor := b.read(q)
				if page == "" {
					break
				}
				got, q.Cursor = append(got, page), cursor
			}
			if strings.Join(got, " ") != want {
				t.Errorf("%+v: %s, want %s", q, got, want)
			}
		}
	}
	for _, bad := range []string{"v1", "v1.1", "v1.-.1", "....."} {
		if _, err := b.service.Read(t.Context(), ref, svc.LogQuery{Cursor: bad, Tail: 1}); svc.CodeOf(err) != svc.CodeInvalidCursor {
			t.Errorf("%q: %v", bad, err)
		}
	}
	b.want(svc.LogQuery{Cursor: "v0.zz.zz", Tail: 1}, "/request19=500:ok") // production was another version
}

// TestGap: a reader whose cursor is too old learns how much it missed; one without a
// cursor does not.
func TestGap(t *testing.T) {
	t.Parallel()
	b := newBook(t, ring.Options{SegmentSize: 1, Segments: 2})
	for i := range 6 {
		b.print("", "log", fmt.Sprint(i))
		b.flush()
	}
	b.want(svc.LogQuery{Tail: 100}, "4 5")
	b.want(svc.LogQuery{Tail: 100, Search: "5"}, "5")
	b.want(svc.LogQuery{Tail: 100, Cursor: "v1.1.0"}, "3 entries are no longer kept 4 5")
}

// TestFollow: a line is passed on in time, and without its request.
func TestFollow(t *testing.T) {
	t.Parallel()
	b := newBook(t, bigRing())
	b.print("aaaa", "log", "before")
	b.flush()
	got, done := make(chan string, 10), make(chan error, 1)
	target := func(context.Context) (svc.Ref, error) { return ref, nil }
	go func() {
		done <- b.service.Follow(t.Context(), target, svc.LogQuery{Tail: 10}, func(e svc.LogEntry) error { got <- short(e); return nil }, func() error { return nil })
	}()
	if first := <-got; first != "before" {
		t.Fatal(first)
	}
	b.print("bbbb", "log", "live")
	if next := <-got; next != "live" {
		t.Error(next)
	}
	b.end("bbbb", "/b", 200)
	if next := <-got; next != "/b=200:ok" {
		t.Error(next)
	}
	b.service.Stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	failed := errors.New("gone")
	dir := func(svc.Ref) string { return b.dir }
	follower := logs.New(dir, dir)
	err := follower.Follow(t.Context(), target, svc.LogQuery{Tail: 10}, func(svc.LogEntry) error { return failed }, func() error { return nil })
	if !errors.Is(err, failed) {
		t.Error(err)
	}
}

// TestInSources: every place of a text is mapped, and what has no map stays.
func TestInSources(t *testing.T) {
	t.Parallel()
	bundle := t.TempDir()
	if err := os.MkdirAll(filepath.Join(bundle, "sourcemaps"), 0o700); err != nil {
		t.Fatal(err)
	}
	source := `{"version":3,"sources":["src/index.ts"],"mappings":";EASI","names":[]}`
	if err := os.WriteFile(filepath.Join(bundle, "sourcemaps", "index.js.map"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	s := logs.New(func(svc.Ref) string { return t.TempDir() }, func(svc.Ref) string { return bundle })
	for text, want := range map[string]string{
		"deploying: startup_exception: Uncaught Error: no at index.js:2:3":   "deploying: startup_exception: Uncaught Error: no at src/index.ts:10:5",
		"it threw at file:///bundle/index.js:2:3, and at lib/other.js:2:3":   "it threw at src/index.ts:10:5, and at lib/other.js:2:3",
		"../../../etc/index.js:2:3 and http://a.example/index.js:2:3 remain": "../../../etc/index.js:2:3 and http://a.example/index.js:2:3 remain",
		"no place": "no place",
	} {
		if got := s.InSources(svc.Ref{Project: "shop", Version: "v1"}, text); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestStacks: frames are mapped to the sources; what has no map, or is no frame, stays.
func TestStacks(t *testing.T) {
	t.Parallel()
	b := newBook(t, bigRing())
	if err := os.Mkdir(filepath.Join(b.dir, "sourcemaps"), 0o700); err != nil {
		t.Fatal(err)
	}
	// Line 2, column 3 of index.js is line 10, column 5 of src/index.ts.
	source := `{"version":3,"sources":["src/index.ts"],"mappings":";EASI","names":[]}`
	if err := os.WriteFile(filepath.Join(b.dir, "sourcemaps", "index.js.map"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	b.print("", "error", "throw Error: index.js:2:3\n    at f (index.js:2:4)\n    at async file:///bundle/index.js:2:3\n    at other.js:2:3\n    at x (../index.js:2:3)\n    at y (index.js:1:1)")
	b.flush()
	b.want(svc.LogQuery{Tail: 1}, "throw Error: index.js:2:3\n    at f (src/index.ts:10:5)\n    at async src/index.ts:10:5\n    at other.js:2:3\n    at x (../index.js:2:3)\n    at y (index.js:1:1)")
	b.print("", "error", "service worker: Uncaught Error: at start\n  at index.js:2:4")
	b.flush()
	b.want(svc.LogQuery{Tail: 1}, "service worker: Uncaught Error: at start\n  at src/index.ts:10:5")
}

// TestExceptionInSource: the author of the worker sees the lines where it throws.
func TestExceptionInSource(t *testing.T) {
	t.Parallel()
	b := newBook(t, bigRing())
	if err := os.Mkdir(filepath.Join(b.dir, "sourcemaps"), 0o700); err != nil {
		t.Fatal(err)
	}
	source := `{"version":3,"sources":["src/index.ts"],"sourcesContent":["8\n9\n1\n2\n3\n4\n5\n6\n7\n    throw Error()\n};"],"mappings":";EASI","names":[]}`
	if err := os.WriteFile(filepath.Join(b.dir, "sourcemaps", "index.js.map"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	b.print("aaaa", "error", "throw Error: boom\n    at f (index.js:2:4)")
	b.print("bbbb", "error", "throw Error: elsewhere\n    at f (other.js:2:4)")
	b.flush()
	want := "throw Error: boom\n    at f (src/index.ts:10:5)\n\nsrc/index.ts:10:5\n     8 | 6\n     9 | 7\n>   10 |     throw Error()\n       |     ^\n    11 | };"
	if got := b.service.ExceptionInSource(t.Context(), ref, "aaaa", began); got != want {
		t.Errorf("%q, want\n%q", got, want)
	}
	if got, want := b.service.ExceptionInSource(t.Context(), ref, "bbbb", began), "throw Error: elsewhere\n    at f (other.js:2:4)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestRecorderWithoutDirectory: a version that never ran, or was destroyed, has no log.
func TestRecorderWithoutDirectory(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "none")
	r := logs.NewRecorder(func(svc.Ref) string { return dir }, slog.New(slog.DiscardHandler))
	r.Record(ref, &svc.LogLine{Source: svc.LogRequest})
	r.Close()
	r.Record(ref, &svc.LogLine{Source: svc.LogRequest})
	none := func(svc.Ref) string { return dir }
	page, err := logs.New(none, none).Read(t.Context(), ref, svc.LogQuery{Tail: 1})
	if err != nil || len(page.Entries) != 0 {
		t.Errorf("%+v, %v", page, err)
	}
}

// TestRecordDoesNotWaitForTheDisk: entries that come before the log is open are in it, in
// their order.
func TestRecordDoesNotWaitForTheDisk(t *testing.T) {
	t.Parallel()
	dir, slow := t.TempDir(), make(chan struct{})
	r := logs.NewRecorder(func(svc.Ref) string { <-slow; return dir }, slog.New(slog.DiscardHandler))
	recorded := make(chan struct{})
	go func() {
		defer close(recorded)
		for i := range 5 {
			r.Record(ref, &svc.LogLine{Time: time.Now(), Level: "info", Source: svc.LogRequest, Invocation: &svc.Invocation{Kind: svc.LogRequest, Method: "GET", Path: "/", Status: 200 + i, Outcome: "ok"}})
		}
	}()
	svctest.Wait(t, "the requests do not wait", recorded)
	close(slow)
	r.Close()
	known := func(svc.Ref) string { return dir }
	page, err := logs.New(known, known).Read(t.Context(), ref, svc.LogQuery{Tail: 10})
	if err != nil || len(page.Entries) != 5 {
		t.Fatalf("%+v, %v", page, err)
	}
	for i, e := range page.Entries {
		if e.Invocation.Status != 200+i {
			t.Errorf("entry %d: %d", i, e.Invocation.Status)
		}
	}
}

// BenchmarkRecord is what a request costs the gateway.
func BenchmarkRecord(b *testing.B) {
	dir := b.TempDir()
	r := logs.NewRecorder(func(svc.Ref) string { return dir }, slog.New(slog.DiscardHandler))
	defer r.Close()
	i := svc.Invocation{Kind: svc.LogRequest, Method: "GET", Path: "/", Status: 200, Outcome: "ok", Role: svc.RolePreview, Duration: time.Millisecond}
	b.ReportAllocs()
	for b.Loop() {
		r.Record(ref, &svc.LogLine{Time: time.Now(), Level: i.Level(), Source: svc.LogRequest, RequestID: "0af7651916cd43dd", Invocation: &i})
	}
}

// TestException: the exception of a request is found when it is written, with the places
// in the sources, and not that of another request.
func TestException(t *testing.T) {
	t.Parallel()
	b := newBook(t, bigRing())
	b.print("aaaa", "error", "throw other")
	b.print("bbbb", "log", "nothing")
	b.flush()
	found := make(chan string)
	began := time.Now()
	go func() { found <- b.service.Exception(t.Context(), ref, "bbbb", began) }()
	b.print("bbbb", "error", "throw mine")
	b.print("bbbb", "error", "throw second")
	b.flush()
	if got := <-found; got != "throw mine" {
		t.Errorf("%q", got)
	}
	if got := b.service.Exception(t.Context(), ref, "aaaa", began); got != "throw other" {
		t.Errorf("written before: %q", got)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if got := b.service.Exception(ended, ref, "cccc", began); got != "" {
		t.Errorf("none: %q", got)
	}
}
