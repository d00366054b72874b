package site_test

import (
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
)

// TestPages: the files of a Pages project have the headers and redirects of Pages, and other sites do not.
func TestPages(t *testing.T) {
	t.Parallel()
	rules := []bundle.HeaderRule{
		{Path: "/own/*", Set: []bundle.Header{{Name: "access-control-allow-origin", Value: "https://a.example"}}},
		{Path: "/none/*", Unset: []string{"Access-Control-Allow-Origin", "Referrer-Policy", "X-Content-Type-Options"}},
	}
	files := []string{"index.html", "a.html", "font.woff2", "own/x.json", "none/x.json"}
	pages := bundle.Assets{Pages: true, NotFoundHandling: bundle.NotFoundSPA, Headers: rules}
	other := pages
	other.Pages = false
	for _, test := range []struct {
		target, want, other string
		origin, kind        string // headers of Pages
	}{
		{"/", "200 index.html", "200 index.html", "*", "nosniff"},
		{"/font.woff2", "200 font.woff2", "200 font.woff2", "*", "nosniff"},
		{"/index.html", "308 /", "307 /", "*", ""},
		{"/a.html?q=1", "308 /a?q=1", "307 /a?q=1", "*", ""},
		{"/a%2fb/../c//d", "200 index.html", "307 /c/d", "*", "nosniff"},
		{"/%61", "200 a.html", "307 /a", "*", "nosniff"},
		{"/gone", "200 index.html", "200 index.html", "*", "nosniff"},
		{"/own/x.json", "200 own/x.json", "200 own/x.json", "https://a.example", "nosniff"},
		{"/none/x.json", "200 none/x.json", "200 none/x.json", "", ""},
	} {
		a, ok := ask(siteOf(bundle.Manifest{Assets: &pages}, files...), test.target)
		if got := brief(a, ok); got != test.want {
			t.Errorf("%s: %s, want %s", test.target, got, test.want)
		}
		origin, policy, kind := a.Header.Get("Access-Control-Allow-Origin"), a.Header.Get("Referrer-Policy"), a.Header.Get("X-Content-Type-Options")
		if origin != test.origin || kind != test.kind || (policy == "strict-origin-when-cross-origin") != (test.origin != "") {
			t.Errorf("%s: origin %q, policy %q, type options %q", test.target, origin, policy, kind)
		}
		b, ok := ask(siteOf(bundle.Manifest{Assets: &other}, files...), test.target)
		if got := brief(b, ok); got != test.other || b.Header.Get("Referrer-Policy")+b.Header.Get("X-Content-Type-Options") != "" {
			t.Errorf("%s, no Pages: %s with %v, want %s", test.target, got, b.Header, test.other)
		}
	}
}
