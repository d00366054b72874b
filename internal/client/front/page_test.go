package front_test

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/client/front"
)

func page(body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		for _, h := range headers {
			name, value, _ := strings.Cut(h, ":")
			w.Header().Set(name, value)
		}
		_, _ = io.WriteString(w, body)
	}
}

const browser = "Accept:text/html,*/*"

// A problem is in pages and nowhere else; the version before still answers.
func TestProblem(t *testing.T) {
	t.Parallel()
	w := newWorld(t, front.Config{})
	p := &front.Problem{Code: "build_failed", Title: "It does not build", Detail: "src/index.ts:3:7: <oops>"}
	w.front.Show(p)
	w.front.Release()
	if status, body := w.get("/"); status != http.StatusServiceUnavailable || body != "It does not build\nsrc/index.ts:3:7: <oops>\n" {
		t.Errorf("without a version: %d %q", status, body)
	}
	if status, body := w.get("/", browser); status != http.StatusServiceUnavailable || !strings.Contains(body, "3:7: &lt;oops&gt;") {
		t.Errorf("without a version: %d %q", status, body)
	}
	w.front.Switch(w.version("one", page("<html><head></head><Body class=x>hello</body>", "ETag:1")))
	if _, body := w.get("/", browser); body != "<html><head></head><Body class=x>hello</body>" {
		t.Errorf("%q", body)
	}
	w.front.Show(p)
	resp := w.send("/", browser)
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if got := string(body); err != nil || !strings.Contains(got, "<Body class=x>\n<pre role=\"alert\"") || !strings.HasSuffix(got, "hello</body>") ||
		!strings.Contains(got, "&lt;oops&gt;") || resp.Header.Get("ETag") != "" {
		t.Errorf("%q, %v, %v", got, resp.Header, err)
	}
	if _, body := w.get("/"); strings.Contains(body, "oops") {
		t.Errorf("in the answer for a program: %q", body)
	}
	w.front.Show(nil)
	if _, body := w.get("/", browser); strings.Contains(body, "oops") {
		t.Errorf("after the problem: %q", body)
	}
}

// Pages without a body tag, compressed ones and other types.
func TestProblemInOddPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t, front.Config{LiveReload: true})
	long := strings.Repeat("x", 200<<10)
	for name, tc := range map[string]struct {
		handler http.HandlerFunc
		want    func(body string) bool
	}{
		"no tag":      {page("hello"), func(b string) bool { return strings.HasPrefix(b, "<script") && strings.HasSuffix(b, "hello") }},
		"empty":       {page(""), func(b string) bool { return strings.HasPrefix(b, "<script") }},
		"long":        {page(long), func(b string) bool { return strings.HasSuffix(b, long) && len(b) < len(long)+200 }},
		"tag at last": {page(long + "<body>z"), func(b string) bool { return strings.HasSuffix(b, "<body>z") && strings.HasPrefix(b, "<script") }},
		"not UTF-8": {page("\xff\xfeİ<body>\xff"), func(b string) bool {
			return strings.HasPrefix(b, "\xff\xfeİ<body><script") && strings.HasSuffix(b, "\xff")
		}},
		"half a tag":   {page("a<bod"), func(b string) bool { return strings.HasSuffix(b, "a<bod") }},
		"compressed":   {page("gz", "Content-Encoding:br"), func(b string) bool { return b == "gz" }},
		"another type": {text("<body>plain"), func(b string) bool { return strings.HasSuffix(b, "plain") }},
	} {
		w.front.Switch(w.version(name, tc.handler))
		w.front.Release()
		if _, body := w.get("/", browser); !tc.want(body) {
			t.Errorf("%s: %.300q", name, body)
		}
	}
}

// Pages reload after a switch, and when a problem appears or ends.
func TestLiveReload(t *testing.T) {
	t.Parallel()
	w := newWorld(t, front.Config{LiveReload: true})
	w.front.Switch(w.version("one", page("<body>")))
	w.front.Release()
	if _, body := w.get("/", browser); !strings.Contains(body, `<script src="/cdn-cgi/svcctl/live.js" async>`) {
		t.Errorf("%q", body)
	}
	if _, body := w.get("/cdn-cgi/svcctl/live.js"); !strings.Contains(body, "EventSource") {
		t.Errorf("%q", body)
	}
	resp := w.send("/cdn-cgi/svcctl/events")
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	next := func(prefix string) {
		t.Helper()
		for lines.Scan() {
			if strings.HasPrefix(lines.Text(), prefix) {
				return
			}
		}
		t.Fatalf("no %q: %v", prefix, lines.Err())
	}
	next(": connected")
	w.front.Switch(w.version("two", page("<body>")))
	next("event: reload")
	w.front.Show(&front.Problem{Title: "x"})
	next("event: reload")
	w.front.Show(nil)
	next("event: reload")
}
