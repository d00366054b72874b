package httpapi_test

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"testing"

	"github.com/svcctl/svcctl/pkg/api"
)

// TestPagingWhileRowsAreAdded: rows that existed at the start appear once, in order,
// while rows are added [D7].
// spec: [C12.1] [C12.4]
func TestPagingWhileRowsAreAdded(t *testing.T) {
	t.Parallel()
	h := start(t)
	for i := range 7 {
		h.project(fmt.Sprintf("p%d", i))
	}
	var seen []string
	path := "/v1/projects?limit=3"
	for n := 0; ; n++ {
		page := decode[api.ProjectPage](h.do(request{method: "GET", path: path}).want(200))
		for _, p := range page.Items {
			seen = append(seen, p.ID)
		}
		h.project(fmt.Sprintf("late%d", n))
		if page.NextCursor == nil {
			break
		}
		path = "/v1/projects?limit=3&cursor=" + *page.NextCursor
	}
	if want := []string{"p6", "p5", "p4", "p3", "p2", "p1", "p0"}; !slices.Equal(seen, want) {
		t.Errorf("got %v, want %v", seen, want)
	}
}

// spec: [C12.7] [C12.8] [C13.1] [C13.2]
func TestVersionsPageByPageAndFiltered(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	h.project("empty")
	for i := range 5 {
		h.version("shop", fmt.Sprintf("v-%d", i))
	}
	first := decode[api.VersionPage](h.do(request{method: "GET", path: "/v1/projects/shop/versions?limit=4&status=pending"}).want(200))
	if len(first.Items) != 4 || first.NextCursor == nil {
		t.Fatalf("got %d items, next %v", len(first.Items), first.NextCursor)
	}
	second := decode[api.VersionPage](h.do(request{
		method: "GET", path: "/v1/projects/shop/versions?limit=4&status=pending&cursor=" + *first.NextCursor,
	}).want(200))
	if len(second.Items) != 1 || second.Items[0].ID != "v-0" || second.NextCursor != nil {
		t.Errorf("got %+v", second)
	}
	none := h.do(request{method: "GET", path: "/v1/projects/empty/versions"}).want(200)
	if string(none.body) != "{\"items\":[],\"next_cursor\":null}\n" {
		t.Errorf("an empty page is %s", none.body)
	}
	// The cursor of the embedded first page continues in the list.
	embedded := decode[api.Project](h.do(request{method: "GET", path: "/v1/projects/shop?include=versions&limit=2"}).want(200))
	if embedded.Versions == nil || len(embedded.Versions.Items) != 2 || embedded.Versions.NextCursor == nil {
		t.Fatalf("got %+v", embedded.Versions)
	}
	rest := decode[api.VersionPage](h.do(request{method: "GET", path: "/v1/projects/shop/versions?cursor=" + *embedded.Versions.NextCursor}).want(200))
	if len(rest.Items) != 3 {
		t.Errorf("got %d", len(rest.Items))
	}
	for cursor, at := range map[string]string{
		*first.NextCursor:             "/v1/projects/shop/versions?status=ready&cursor=",
		*embedded.Versions.NextCursor: "/v1/projects/empty/versions?cursor=",
	} {
		h.do(request{method: "GET", path: at + cursor}).wantProblem(400, "invalid_cursor")
		h.do(request{method: "GET", path: "/v1/projects?cursor=" + cursor}).wantProblem(400, "invalid_cursor")
	}
	h.do(request{method: "GET", path: "/v1/projects/shop/versions?status=asleep", outside: true}).wantProblem(400, "invalid_status")
	h.do(request{method: "GET", path: "/v1/projects/shop?include=everything", outside: true}).wantProblem(400, "invalid_include")
	h.do(request{method: "GET", path: "/v1/projects/unknown/versions"}).wantProblem(404, "project_not_found")
	h.do(request{method: "GET", path: "/v1/projects/unknown/promotions"}).wantProblem(404, "project_not_found")
}

func TestMalformedCursors(t *testing.T) {
	t.Parallel()
	h := start(t)
	for i := range 3 {
		h.project(fmt.Sprintf("p%d", i))
	}
	page := decode[api.ProjectPage](h.do(request{method: "GET", path: "/v1/projects?limit=1"}).want(200))
	raw, err := base64.RawURLEncoding.DecodeString(*page.NextCursor)
	if err != nil {
		t.Fatal(err)
	}
	changed := func(i int, b byte) string {
		c := slices.Clone(raw)
		c[i] = b
		return base64.RawURLEncoding.EncodeToString(c)
	}
	for name, cursor := range map[string]string{
		"text": "x", "not base64": "!!!", "short": base64.RawURLEncoding.EncodeToString(raw[:9]), "long": *page.NextCursor + "AAAA",
		"padded": *page.NextCursor + "=", "version": changed(0, 9), "negative": changed(1, 0xff), "list": changed(16, raw[16]^1),
		"zero": base64.RawURLEncoding.EncodeToString(append([]byte{1, 0, 0, 0, 0, 0, 0, 0, 0}, raw[9:]...)),
		"sql":  "1 OR 1=1", "nul": "\x00",
	} {
		h.do(request{method: "GET", path: "/v1/projects?cursor=" + url.QueryEscape(cursor)}).wantProblem(400, "invalid_cursor")
		if t.Failed() {
			t.Fatal(name)
		}
	}
	h.do(request{method: "GET", path: "/v1/projects?cursor="}).want(200)
}

// spec: [C12.2] [C12.3]
func TestLimits(t *testing.T) {
	t.Parallel()
	h := start(t)
	for range 205 {
		h.db.CreateProject(t.Context(), project(t))
	}
	for _, tc := range []struct {
		query string
		items int // 0 for an error
		code  string
	}{
		{"", 50, ""},
		{"?limit=1", 1, ""},
		{"?limit=200", 200, ""},
		{"?limit=201", 200, ""},
		{"?limit=007", 7, ""},
		{"?limit=99999999999999999999999", 200, ""},
		{"?limit=0", 0, "invalid_limit"},
		{"?limit=-1", 0, "invalid_limit"},
		{"?limit=ten", 0, "invalid_limit"},
		{"?limit=1e1", 0, "invalid_limit"},
		{"?limit=", 0, "invalid_limit"},
		{"?limit=1.5", 0, "invalid_limit"},
		{"?limit=%2B5", 0, "invalid_limit"},
		{"?limit=1&limit=2", 0, "invalid_limit"},
		{"?limit=%zz", 0, "invalid_query"},
		{"?cursor=a&cursor=b", 0, "invalid_parameter"},
	} {
		t.Run(tc.query, func(t *testing.T) {
			t.Parallel()
			got := h.do(request{method: "GET", path: "/v1/projects" + tc.query, outside: true})
			if tc.items == 0 {
				got.wantProblem(400, tc.code)
				return
			}
			if n := len(decode[api.ProjectPage](got.want(200)).Items); n != tc.items {
				t.Errorf("got %d items, want %d", n, tc.items)
			}
		})
	}
}
