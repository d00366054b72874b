package pages

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// TestFiles: scripts alone are functions.
func TestFiles(t *testing.T) {
	t.Parallel()
	dir := svctest.Files(t, map[string]string{
		"b.ts": "", "a/[id].jsx": "", "a/types.d.ts": "", "README.md": "", "node_modules/x/index.js": "", "c.json": "{}", "a.js/b.mjs": "",
	})
	files, err := Files(dir)
	if want := []string{"a/[id].jsx", "a.js/b.mjs", "b.ts"}; err != nil || !slices.Equal(slices.Sorted(slices.Values(files)), slices.Sorted(slices.Values(want))) {
		t.Errorf("%v, %v", files, err)
	}
	if _, err := Files(dir + "/gone"); err == nil {
		t.Error("a directory that is not there has files")
	}
}

// TestOrder: the more specific of two routes is tried first, as on Pages.
func TestOrder(t *testing.T) {
	t.Parallel()
	exports := map[string][]string{
		"index.ts": {"onRequestGet", "config"}, "_middleware.ts": {"onRequest"}, "[[rest]].ts": {"onRequest"}, "api/[id].ts": {"onRequest", "onRequestPost"},
		"api/all.ts": {"onRequest"}, "api/[[path]].js": {"onRequestDelete"}, "api/[id]/x-[y].ts": {"onRequest"}, "lib/util.ts": {"default", "onRequestTrace"},
	}
	var files []string
	for file := range exports {
		files = append(files, file)
	}
	slices.Sort(files)
	list, err := handlers(files, exports)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, h := range list {
		got = append(got, strings.TrimSpace(h.method+" "+h.path))
	}
	want := []string{"/api/:id/x-:y", "/api/all", "POST /api/:id", "/api/:id", "DELETE /api/:path*", "/:rest*", "GET /", "/"}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	if got, want := patterns(list), []string{"/*"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got, want := patterns(list[:5]), []string{"/api/*"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestExpression: paths that a route matches, with its parameters.
func TestExpression(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		path   string
		whole  bool
		of     string
		groups []string // nil for no match
	}{
		{"/", true, "/", []string{}},
		{"/", true, "/a", nil},
		{"/", false, "/a/b", []string{}},
		{"/a", true, "/a/", []string{}},
		{"/a", true, "/ab", nil},
		{"/a", false, "/a/b", []string{}},
		{"/a", false, "/ab", nil},
		{"/a.b", true, "/axb", nil},
		{"/a/:id", true, "/a/7", []string{"7"}},
		{"/a/:id", true, "/a/7/8", nil},
		{"/a/:id", false, "/a/7/8", []string{"7"}},
		{"/a/x-:id.json", true, "/a/x-7.json", []string{"7"}},
		{"/a/:rest*", true, "/a/7/8", []string{"7/8"}},
		{"/a/:rest*", true, "/a", []string{""}},
		{"/:rest*", true, "/", []string{""}},
	} {
		text, names := expression(test.path, test.whole)
		m := regexp.MustCompile(strings.NewReplacer(`(?=$)`, ``, `(?=[\/#?]|$)`, `(?:[\/#?].*)?$`).Replace(text)).FindStringSubmatch(test.of)
		if m == nil != (test.groups == nil) || m != nil && !slices.Equal(m[1:], test.groups) || len(names) != len(test.groups) && m != nil {
			t.Errorf("%s of %s: %q by %s %v", test.of, test.path, m, text, names)
		}
	}
}

// TestParameter: a name that no parameter can have is an error.
func TestParameter(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"[a-b].ts", "x/[[a.b]].ts"} {
		if _, err := Generate([]string{file}, map[string][]string{file: {"onRequest"}}); svc.CodeOf(err) != svc.CodeConfigInvalid {
			t.Errorf("%s: %v", file, err)
		}
	}
}
