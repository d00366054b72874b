package assets_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/client/assets"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// collect returns the names of the assets in dir.
func collect(t *testing.T, req assets.Request) (names []string, found assets.Found) {
	t.Helper()
	found, err := assets.Collect(req)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found.Files {
		names = append(names, bundle.AssetName(f.Path))
		if info, err := os.Stat(found.Disk[f.Path]); err != nil || info.Size() != f.Size {
			t.Errorf("%s: %v", f.Path, err)
		}
	}
	return names, found
}

func TestCollect(t *testing.T) {
	t.Parallel()
	dir := svctest.Files(t, map[string]string{
		"index.html": "x", ".well-known/a.txt": "x", "img/a.png": "x", "img/raw/a.psd": "x", "keep.psd": "x", "drafts/a.html": "x",
		"deep/drafts/a.html": "x", "logs/a.log": "x", "a.log": "x", "tmp1": "x", "tmpx": "x", "with space ": "x", "#hash": "x", "node_modules/a.js": "x",
		".assetsignore": "# comment\n*.psd\n!/keep.psd\n/drafts/\nlogs/**\ntmp[0-9]\n\\#hash\nwith\\ space\\ \n",
		"_headers":      "/*\n  X-A: b\n", "_redirects": "/a /b\n", "sub/_headers": "x",
	})
	if err := os.Symlink(filepath.Join(dir, "index.html"), filepath.Join(dir, "link.html")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dir, filepath.Join(dir, "loop")); err != nil {
		t.Fatal(err)
	}
	names, found := collect(t, assets.Request{Dir: dir})
	want := []string{
		".well-known/a.txt", "a.log", "deep/drafts/a.html", "img/a.png", "index.html", "keep.psd", "link.html", "sub/_headers", "tmpx",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
	if len(found.Redirects) != 1 || len(found.Headers) != 1 {
		t.Errorf("rules: %+v", found)
	}
	if want := dir + ": not uploaded: loop (a link to a directory above it), node_modules; a line with ! before the name in .assetsignore uploads it"; len(found.Notices) != 1 || found.Notices[0] != want {
		t.Errorf("notices %q, want %q", found.Notices, want)
	}
}

// A project that is its own directory of assets keeps its files to itself.
func TestCollectFromProject(t *testing.T) {
	t.Parallel()
	dir := svctest.Files(t, map[string]string{
		"index.html": "x", "wrangler.jsonc": "{}", ".env.local": "x", ".dev.vars": "x", "node_modules/a.js": "x", "src/node_modules/b.js": "x", ".git/HEAD": "x", "public": "x",
	})
	if names, _ := collect(t, assets.Request{Dir: dir, Project: dir, Ignore: []string{"public"}}); !cmp.Equal(names, []string{"index.html"}) {
		t.Errorf("assets: %v", names)
	}
}

func TestCollectRefuses(t *testing.T) {
	t.Parallel()
	for code, dir := range map[string]string{
		"assets_missing": filepath.Join(t.TempDir(), "dist"),
		"assets_invalid": svctest.Files(t, map[string]string{"_worker.js/index.js": "x"}),
	} {
		if _, err := assets.Collect(assets.Request{Dir: dir}); svc.CodeOf(err) != code {
			t.Errorf("got %v, want %s", err, code)
		}
	}
}

// A worker of Pages among the assets is an error without an .assetsignore alone, as with
// wrangler.
func TestCollectWorker(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		ignore  string
		want    []string
		notices int
	}{
		{"_worker.js\r\n_routes.json\r\n", []string{"_worker.json", "index.html"}, 0},
		{"_worker.js/", []string{"_worker.json", "index.html"}, 0},
		{"/_worker.js/**", []string{"_worker.json", "index.html"}, 0},
		{"_worker.js/*\n!_worker.js/chunk.js", []string{"_worker.js/chunk.js", "_worker.json", "index.html"}, 1},
		{"", []string{"_worker.js/chunk.js", "_worker.js/index.js", "_worker.json", "index.html"}, 1},
	} {
		names, found := collect(t, assets.Request{Dir: svctest.Files(t, map[string]string{
			".assetsignore": tc.ignore, "index.html": "x", "_worker.js/index.js": "x", "_worker.js/chunk.js": "x", "_worker.json": "x",
		})})
		if !cmp.Equal(names, tc.want) || len(found.Notices) != tc.notices {
			t.Errorf("%q: assets %v, notices %q", tc.ignore, names, found.Notices)
		}
	}
}

func TestParseRedirects(t *testing.T) {
	t.Parallel()
	text := "\uFEFF# comment\n/a /b\n/c\t/d 301\n\n/e/* /f/:splat 200\r\n/g https://x.example/?y=z 308\n" +
		"/a /again\n/one\n/a /b 301 extra\nhttps://x.example/ /b\n/a* /b/*/c* 301\n/b?c=d /e\n/x /y 404\n/x /y abc\n/x https://y.example/ 200\n/x y\n/* /index.html 200\n/:a/:a /b\n/b* /c*d*\n/" +
		strings.Repeat("x", 2000) + " /y\n//host/a /b\n/x*y* /z\n/x ftp://y.example/\n" +
		"noslash/x/../y https://:id.example/y # remark\n/ü#frag /z#part 301\t# remark\n"
	list, notices := assets.ParseRedirects("_redirects", text)
	want := []bundle.Redirect{
		{From: "/a", To: "/b", Status: 302},
		{From: "/c", To: "/d", Status: 301},
		{From: "/e/*", To: "/f/:splat", Status: 200},
		{From: "/g", To: "https://x.example/?y=z", Status: 308},
		{From: "/a*", To: "/b/*/c*", Status: 301},
		{From: "/b", To: "/e", Status: 302},
		{From: "/b*", To: "/c*d*", Status: 302},
		{From: "//host/a", To: "/b", Status: 302},
		{From: "/noslash/y", To: "https://:id.example/y", Status: 302},
		{From: "/%C3%BC", To: "/z#part", Status: 301},
	}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Error(diff)
	}
	if len(notices) != 15 || !strings.HasPrefix(notices[0], "_redirects:7: the line is ignored: an earlier line is about /a") {
		t.Errorf("%d notices: %s", len(notices), strings.Join(notices, "\n"))
	}
}

func TestParseRedirectsLimits(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 2101 {
		b.WriteString("/s" + strings.Repeat("i", i%50) + "-" + strings.Repeat("x", i/50) + " /t\n")
	}
	for i := range 101 {
		b.WriteString("/d" + strings.Repeat("x", i) + "* /t\n")
	}
	if list, notices := assets.ParseRedirects("f", b.String()); len(list) != 2100 || len(notices) != 102 {
		t.Errorf("%d rules, %d notices", len(list), len(notices))
	}
}

func TestParseHeaders(t *testing.T) {
	t.Parallel()
	text := "X-Early: 1\n# comment\n/*\n  X-A: b\n  x-a: c\n  ! ETag\n  Set-Cookie: a=1\n  Set-Cookie: b=2\n  no colon\n  Bad Name: x\n  Empty:\n  ! \n" +
		"https://:a.example/*\n  X-B: https://x.example/\nhttp://x.example/\n  X-C: 1\nhttps://x.example:8080/\n  X-D: 1\n/a*b*\n/empty\n/with space\n  X-W: 1\n/last\n  X-E: 1\n"
	list, notices := assets.ParseHeaders("_headers", text)
	want := []bundle.HeaderRule{
		{Path: "/*", Set: []bundle.Header{{Name: "X-A", Value: "b, c"}, {Name: "Set-Cookie", Value: "a=1"}, {Name: "Set-Cookie", Value: "b=2"}}, Unset: []string{"ETag"}},
		{Path: "https://:a.example/*", Set: []bundle.Header{{Name: "X-B", Value: "https://x.example/"}}},
		{Path: "/with%20space", Set: []bundle.Header{{Name: "X-W", Value: "1"}}},
		{Path: "/last", Set: []bundle.Header{{Name: "X-E", Value: "1"}}},
	}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Error(diff)
	}
	if len(notices) != 8 {
		t.Errorf("%d notices: %s", len(notices), strings.Join(notices, "\n"))
	}
}
