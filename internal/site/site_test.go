package site_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/site"
)

// site makes the site of files with these paths, whose content is their path.
func siteOf(m bundle.Manifest, paths ...string) *site.Site {
	a := bundle.Assets{}
	if m.Assets != nil {
		a = *m.Assets
	}
	for _, p := range paths {
		a.Files = append(a.Files, bundle.File{Path: "assets/" + p, SHA256: p, Size: int64(len(p))})
	}
	m.Assets = &a
	if m.CompatibilityDate == "" {
		m.CompatibilityDate = "2026-11-01"
	}
	return site.New(&m, "/bundle")
}

// ask sends a request: "[METHOD ]target[ | name: value]...".
func ask(s *site.Site, text string) (site.Answer, bool) {
	parts := strings.Split(text, " | ")
	method, target, ok := strings.Cut(parts[0], " ")
	if !ok {
		method, target = http.MethodGet, parts[0]
	}
	fields := map[string]string{}
	for _, field := range parts[1:] {
		name, value, _ := strings.Cut(field, ": ")
		fields[name] = value
	}
	return s.Route(&site.Request{
		Method: method, Host: "shop.example:8080", Target: target,
		Field: func(name string) string { return fields[name] },
	})
}

// brief writes an answer as a test wants it: "worker", "200 about.html", "307 /about".
func brief(a site.Answer, ok bool) string {
	if !ok {
		return "worker"
	}
	to := a.Header.Get("Location")
	if to == "" {
		to = strings.Trim(a.Header.Get("Etag"), `W/"`)
	}
	return strings.TrimSpace(strconv.Itoa(a.Status) + " " + to)
}

// TestHTMLHandling has one row for a path, and one column for a mode.
func TestHTMLHandling(t *testing.T) {
	t.Parallel()
	files := []string{
		"index.html", "about.html", "blog/index.html", "both.html", "both/index.html", "bin", "bin.html",
		"dir/index", "dir/file.html", "folder.html", "folder/a.txt", "a b.html", "ü/index.html",
	}
	modes := []string{"auto-trailing-slash", "force-trailing-slash", "drop-trailing-slash", "none"}
	for _, row := range []string{
		"/ : 200 index.html : 200 index.html : 200 index.html : worker",
		"/index.html : 307 / : 307 / : 307 / : 200 index.html",
		"/index : 307 / : 307 / : 307 / : worker",
		"/about : 200 about.html : 307 /about/ : 200 about.html : worker",
		"/about/ : 307 /about : 200 about.html : 307 /about : worker",
		"/about.html : 307 /about : 307 /about/ : 307 /about : 200 about.html",
		"/about/index : 307 /about : 307 /about/ : 307 /about : worker",
		"/about/index.html : 307 /about : 307 /about/ : 307 /about : worker",
		"/blog : 307 /blog/ : 307 /blog/ : 200 blog/index.html : worker",
		"/blog/ : 200 blog/index.html : 200 blog/index.html : 307 /blog : worker",
		"/blog.html : 307 /blog/ : 307 /blog/ : 307 /blog : worker",
		"/blog/index : 307 /blog/ : 307 /blog/ : 307 /blog : worker",
		"/blog/index.html : 307 /blog/ : 307 /blog/ : 307 /blog : 200 blog/index.html",
		"/both : 200 both.html : 307 /both/ : 200 both.html : worker",
		"/both/ : 200 both/index.html : 200 both/index.html : 307 /both : worker",
		"/both.html : 307 /both : 200 both.html : 307 /both : 200 both.html",
		"/both/index.html : 307 /both/ : 307 /both/ : 200 both/index.html : 200 both/index.html",
		"/bin : 200 bin : 200 bin : 200 bin : 200 bin",
		"/bin/ : worker : 200 bin.html : worker : worker",
		"/bin.html : 200 bin.html : 307 /bin/ : 200 bin.html : 200 bin.html",
		"/dir/index : 200 dir/index : 200 dir/index : 200 dir/index : 200 dir/index",
		"/dir/file : 200 dir/file.html : 307 /dir/file/ : 200 dir/file.html : worker",
		"/dir/ : worker : worker : worker : worker",
		"/folder : 200 folder.html : 307 /folder/ : 200 folder.html : worker",
		"/folder/a.txt : 200 folder/a.txt : 200 folder/a.txt : 200 folder/a.txt : 200 folder/a.txt",
		"/nothing : worker : worker : worker : worker",
		"/a%20b : 200 a b.html : 307 /a%20b/ : 200 a b.html : worker",
		"/%61bout : 307 /about : 307 /about/ : 307 /about : worker",
		"/%C3%BC : 307 /%C3%BC/ : 307 /%C3%BC/ : 200 ü/index.html : worker",
		"/ü/ : 200 ü/index.html : 200 ü/index.html : 307 /%C3%BC : worker",
		"//about : 307 /about : 307 /about/ : 307 /about : worker",
		"/x/../about : 200 about.html : 307 /about/ : 200 about.html : worker",
		"/about?a=b : 200 about.html : 307 /about/?a=b : 200 about.html : worker",
		"/about.html?a=b : 307 /about?a=b : 307 /about/?a=b : 307 /about?a=b : 200 about.html",
		"http://shop.example/about : 200 about.html : 307 /about/ : 200 about.html : worker",
		"POST /about : 405 : 405 : 405 : worker",
		"POST /nothing : worker : worker : worker : worker",
		"HEAD /bin : 200 bin : 200 bin : 200 bin : 200 bin",
	} {
		columns := strings.Split(row, " : ")
		for i, mode := range modes {
			s := siteOf(bundle.Manifest{Main: "w.js", Assets: &bundle.Assets{HTMLHandling: mode}}, files...)
			if got := brief(ask(s, columns[0])); got != columns[i+1] {
				t.Errorf("%s with %s: %s, want %s", columns[0], mode, got, columns[i+1])
			}
		}
	}
}

// TestRouter: which requests are the worker's, and what answers those without a file.
func TestRouter(t *testing.T) {
	t.Parallel()
	const spa, page, navigate = bundle.NotFoundSPA, bundle.NotFound404, " | sec-fetch-mode: navigate"
	files := []string{"index.html", "app.js", "404.html", "blog/404.html", "api/doc.html"}
	patterns := bundle.WorkerFirst{Patterns: []string{"/api/*", "!/api/doc*", "/exact", "/*/in/*/it"}}
	for _, test := range []struct {
		name     string
		worker   bool
		date     string
		notFound string
		first    bundle.WorkerFirst
		request  string
		want     string
	}{
		{"a file", true, "", "", bundle.WorkerFirst{}, "/app.js", "200 app.js"},
		{"no file", true, "", "", bundle.WorkerFirst{}, "/x", "worker"},
		{"no file, no worker", false, "", "", bundle.WorkerFirst{}, "/x", "404"},
		{"application", true, "", spa, bundle.WorkerFirst{}, "/x", "worker"},
		{"navigation", true, "", spa, bundle.WorkerFirst{}, "/x" + navigate, "200 index.html"},
		{"navigation long ago", true, "2025-03-31", spa, bundle.WorkerFirst{}, "/x" + navigate, "worker"},
		{"application alone", false, "", spa, bundle.WorkerFirst{}, "/x/y", "200 index.html"},
		{"posted to an application alone", false, "", spa, bundle.WorkerFirst{}, "POST /x/y", "405"},
		{"page", true, "", page, bundle.WorkerFirst{}, "/x" + navigate, "404 404.html"},
		{"nearest page", false, "", page, bundle.WorkerFirst{}, "/blog/x/y", "404 blog/404.html"},
		{"page of another", false, "", page, bundle.WorkerFirst{}, "/blogs/x", "404 404.html"},
		{"worker first", true, "", spa, bundle.WorkerFirst{All: true}, "/app.js", "worker"},
		{"listed", true, "", spa, patterns, "/api/x", "worker"},
		{"listed exactly", true, "", spa, patterns, "/exact", "worker"},
		{"longer than listed", true, "", spa, patterns, "/exactly", "200 index.html"},
		{"several stars", true, "", spa, patterns, "/a/b/in/c/it", "worker"},
		{"stars out of order", true, "", spa, patterns, "/it/in", "200 index.html"},
		{"excluded", true, "", spa, patterns, "/api/doc", "200 api/doc.html"},
		{"excluded without a file", true, "", "", patterns, "/api/docs", "404"},
		{"not listed", true, "", "", patterns, "/x", "worker"},
	} {
		m := bundle.Manifest{CompatibilityDate: test.date, Assets: &bundle.Assets{NotFoundHandling: test.notFound, RunWorkerFirst: test.first}}
		if test.worker {
			m.Main = "w.js"
		}
		if got := brief(ask(siteOf(m, files...), test.request)); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

func TestNavigationFlags(t *testing.T) {
	t.Parallel()
	for flag, want := range map[string]string{
		"assets_navigation_prefers_asset_serving": "200 index.html", "assets_navigation_has_no_effect": "worker",
	} {
		for _, date := range []string{"2024-01-01", "2026-01-01"} {
			m := bundle.Manifest{
				Main: "w.js", CompatibilityDate: date, CompatibilityFlags: []string{flag}, Assets: &bundle.Assets{NotFoundHandling: bundle.NotFoundSPA},
			}
			if got := brief(ask(siteOf(m, "index.html"), "/x | sec-fetch-mode: navigate")); got != want {
				t.Errorf("%s at %s: %s", flag, date, got)
			}
		}
	}
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	rules := []bundle.Redirect{
		{From: "/old", To: "/new", Status: 301},
		{From: "/query", To: "/new?a=1#top", Status: 302},
		{From: "/users/:name/posts/:id", To: "/u/:name?post=:id", Status: 308},
		{From: "/docs/*", To: "https://docs.example/:splat", Status: 307},
		{From: "/docs/late", To: "/never", Status: 301},
		{From: "/grüße", To: "/hällo", Status: 303},
		{From: "/app/*", To: "/", Status: 200},
		{From: "/rewritten", To: "/gone", Status: 200},
		{From: "/twice/:a/:a", To: "/", Status: 301},
		{From: "/exists.txt", To: "/elsewhere", Status: 302},
		{From: "/open/*", To: "/:splat", Status: 302},
		{From: "/opens/*", To: "//:splat?to=//:splat", Status: 302},
		{From: "/host/:id", To: "https://:id.example", Status: 302},
		{From: "/part/:id/:id2", To: "/:id2/:id", Status: 302},
		{From: "/./dots/../dotted", To: "/x/../{y}", Status: 302},
	}
	s := siteOf(bundle.Manifest{Main: "w.js", Assets: &bundle.Assets{Redirects: rules}}, "index.html", "exists.txt", "twice/x/y")
	for request, want := range map[string]string{
		"/old":                     "301 /new",
		"/old?a=b":                 "301 /new?a=b",
		"POST /old":                "301 /new",
		"/old/":                    "worker",
		"/query?b=2":               "302 /new?a=1#top",
		"/users/ada/posts/7":       "308 /u/ada?post=7",
		"/users/ada/lo/posts/7":    "worker",
		"/docs/a/b?c=d":            "307 https://docs.example/a/b?c=d",
		"/docs/":                   "307 https://docs.example/",
		"/docs":                    "worker",
		"/docs/late":               "307 https://docs.example/late",
		"/gr%C3%BC%C3%9Fe":         "303 /h%C3%A4llo",
		"/app/any/page":            "200 index.html",
		"POST /app/any":            "405",
		"/rewritten":               "404",
		"/twice/x/y":               "200 twice/x/y",
		"/exists.txt":              "302 /elsewhere",
		"/docs/%0d%0aSet-Cookie:a": "307 https://docs.example/%0d%0aSet-Cookie:a",
		"/docs/..%2f..%2fpasswd":   "307 https://docs.example/..%2f..%2fpasswd",
		"/open//bad.test":          "302 /bad.test",
		"/open/\\\\bad.test":       "302 /bad.test",
		"/open/https://bad.test":   "302 /https:/bad.test",
		"/opens/bad.test":          "302 /bad.test?to=//bad.test",
		"/host/a":                  "302 https://a.example/",
		"/part/1/:id":              "302 /:id/1",
		"/dotted":                  "302 /%7By%7D",
	} {
		if got := brief(ask(s, request)); got != want {
			t.Errorf("%s: %s, want %s", request, got, want)
		}
	}
}

// A rule that rewrites a path to one without a file leads to not_found_handling, also before
// a worker.
func TestRewriteToNothing(t *testing.T) {
	t.Parallel()
	rules := []bundle.Redirect{{From: "/app/*", To: "/gone/:splat", Status: 200}}
	s := siteOf(bundle.Manifest{Main: "w.js", Assets: &bundle.Assets{Redirects: rules, NotFoundHandling: bundle.NotFound404}}, "404.html")
	for request, want := range map[string]string{"/app/x": "404 404.html", "POST /app/x": "405", "/gone/x": "worker"} {
		if got := brief(ask(s, request)); got != want {
			t.Errorf("%s: %s, want %s", request, got, want)
		}
	}
}

func TestHeaderRules(t *testing.T) {
	t.Parallel()
	set := func(pairs ...string) (list []bundle.Header) {
		for i := 0; i < len(pairs); i += 2 {
			list = append(list, bundle.Header{Name: pairs[i], Value: pairs[i+1]})
		}
		return list
	}
	rules := []bundle.HeaderRule{
		{Path: "/*", Set: set("X-All", "1", "x-path", ":splat", "Content-Length", "7")},
		{Path: "/about", Set: set("X-All", "2", "Cache-Control", "no-store"), Unset: []string{"ETag"}},
		{Path: "/u/:id", Set: set("X-Id", "user-:id")},
		{Path: "https://shop.example/about", Set: set("X-Host", "shop")},
		{Path: "https://:sub.example/*", Set: set("X-Sub", ":sub")},
		{Path: "https://other.example/*", Set: set("X-Other", "1")},
		{Path: "/cookies", Set: set("Set-Cookie", "a=1", "Set-Cookie", "b=2")},
	}
	s := siteOf(bundle.Manifest{Assets: &bundle.Assets{Headers: rules}}, "about.html", "u/7", "cookies")
	for _, test := range []struct{ request, name, want string }{
		{"/about", "X-All", "1, 2"},
		{"/about", "X-Path", "about"},
		{"/about", "Cache-Control", "no-store"},
		{"/about", "Etag", ""},
		{"/about", "X-Host", "shop"},
		{"/about", "X-Sub", "shop"},
		{"/about", "X-Other", ""},
		{"/about", "Content-Length", "10"},
		{"/u/7", "X-Id", "user-7"},
		{"/nowhere", "X-All", "1"},
		{"/about/", "X-All", "1"},
		{"/cookies", "Set-Cookie", "a=1|b=2"},
	} {
		a, _ := ask(s, test.request)
		if got := strings.Join(a.Header.Values(test.name), "|"); got != test.want {
			t.Errorf("%s: %s is %q, want %q", test.request, test.name, got, test.want)
		}
	}
}

func TestConditions(t *testing.T) {
	t.Parallel()
	s := siteOf(bundle.Manifest{}, "0123456789")
	const etag = `"0123456789"`
	for _, test := range []struct {
		request      string
		status       int
		length, part string // Content-Length and Content-Range
		offset       int64
	}{
		{"/0123456789", 200, "10", "", 0},
		{"HEAD /0123456789", 200, "10", "", 0},
		{"/0123456789 | if-none-match: " + etag, 304, "", "", 0},
		{"/0123456789 | if-none-match: W/" + etag, 304, "", "", 0},
		{`/0123456789 | if-none-match: "x", ` + etag, 304, "", "", 0},
		{"/0123456789 | if-none-match: *", 304, "", "", 0},
		{`/0123456789 | if-none-match: "x"`, 200, "10", "", 0},
		{"/0123456789 | range: bytes=2-4", 206, "3", "bytes 2-4/10", 2},
		{"/0123456789 | range: bytes=2-", 206, "8", "bytes 2-9/10", 2},
		{"/0123456789 | range: bytes=-3", 206, "3", "bytes 7-9/10", 7},
		{"/0123456789 | range: bytes=-30", 206, "10", "bytes 0-9/10", 0},
		{"/0123456789 | range: bytes=5-50", 206, "5", "bytes 5-9/10", 5},
		{"/0123456789 | range: bytes=10-", 416, "0", "bytes */10", 0},
		{"/0123456789 | range: bytes=-0", 416, "0", "bytes */10", 0},
		{"/0123456789 | range: bytes=4-2", 200, "10", "", 0},
		{"/0123456789 | range: bytes=0-1,3-4", 200, "10", "", 0},
		{"/0123456789 | range: lines=0-1", 200, "10", "", 0},
		{"/0123456789 | range: bytes=99999999999999999999-", 200, "10", "", 0},
		{"/0123456789 | range: bytes=0-1 | if-range: " + etag, 206, "2", "bytes 0-1/10", 0},
		{`/0123456789 | range: bytes=0-1 | if-range: "x"`, 200, "10", "", 0},
		{"HEAD /0123456789 | range: bytes=0-1", 200, "10", "", 0},
		{"/0123456789 | range: bytes=0-1 | if-none-match: " + etag, 304, "", "", 0},
	} {
		a, ok := ask(s, test.request)
		h := a.Header
		if !ok || a.Status != test.status || h.Get("Content-Length") != test.length || h.Get("Content-Range") != test.part || a.Offset != test.offset {
			t.Errorf("%s: %d, %d, %v", test.request, a.Status, a.Offset, h)
		}
	}
	for request, want := range map[string]string{
		"/0123456789": "public, max-age=0, must-revalidate", "/0123456789 | authorization: x": "", "/0123456789 | range: bytes=0-1": "",
	} {
		if a, _ := ask(s, request); a.Header.Get("Cache-Control") != want {
			t.Errorf("%s: Cache-Control is %q", request, a.Header.Get("Cache-Control"))
		}
	}
}
