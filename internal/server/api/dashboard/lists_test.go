package dashboard_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/pkg/api"
)

// style is the style of the pages that the server sends.
func style(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("static/app.css")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestTilesFillRows: the tiles of a page have 8 columns in all, so that rows of 8, 4 and 2 columns are
// full in each width of the window.
func TestTilesFillRows(t *testing.T) {
	t.Parallel()
	v := newShop(t).visit()
	css := style(t)
	for _, rule := range []string{"repeat(8,minmax(0,1fr))", "repeat(4,minmax(0,1fr))", "repeat(2,minmax(0,1fr))", ".figure.wide{grid-column:span 2}", ".figure.most{grid-column:span 3}", ".figure.most{grid-column:span 1}"} {
		if !strings.Contains(css, rule) {
			t.Errorf("the style lacks %s", rule)
		}
	}
	overview, err := os.ReadFile("templates/overview.html")
	if err != nil {
		t.Fatal(err)
	}
	v.sees("/p/shop")
	for name, page := range map[string]string{"overview": string(overview), "project": v.page} {
		columns, phone := 0, 0
		for _, m := range regexp.MustCompile(`class="figure( wide| most)?"`).FindAllStringSubmatch(page, -1) {
			columns += map[string]int{"": 1, " wide": 2, " most": 3}[m[1]]
			phone += map[string]int{"": 1, " wide": 2, " most": 1}[m[1]]
		}
		if columns != 8 || phone%2 != 0 {
			t.Errorf("%s: %d columns, %d on a phone", name, columns, phone)
		}
	}
}

// TestBulkNeedsMarks: the buttons for marked versions stand below the list, and only while something is
// marked. A narrow window does not cut the status.
func TestBulkNeedsMarks(t *testing.T) {
	t.Parallel()
	v := newShop(t).visit()
	v.sees("/p/shop", `id="bulk"`)
	if strings.Index(v.page, `id="bulk"`) < strings.Index(v.page, "</table>") {
		t.Error("the buttons stand before the list")
	}
	css := style(t)
	for _, rule := range []string{".card:not(:has(input[form=bulk]:checked))>#bulk{display:none}", ".under{max-width:none!important;white-space:normal!important}", ".list tbody th{overflow-wrap:anywhere}"} {
		if !strings.Contains(css, rule) {
			t.Errorf("the style lacks %s", rule)
		}
	}
}

// rows are the versions of the list on the last page, in order.
func (v *visitor) rows() (ids []string) {
	for _, m := range regexp.MustCompile(`<tr data-row="([^"]*)"( data-production)?>`).FindAllStringSubmatch(v.page, -1) {
		ids = append(ids, m[1]+m[2])
	}
	return ids
}

// TestProductionFirst: production is the first row of the first page, however old it is, and no other row.
func TestProductionFirst(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	next := "2"
	page := func(ids ...string) api.VersionPage {
		out := api.VersionPage{NextCursor: &next}
		for _, id := range ids {
			out.Items = append(out.Items, api.Version{ID: id, ProjectID: "shop", Status: "ready", IsProduction: id == "v8"})
		}
		return out
	}
	v := s.visit()
	for _, tc := range []struct {
		path string
		list []string
		want string
	}{
		{"/p/shop", []string{"v10", "v9", "v8", "v7"}, "v8 data-production v10 v9 v7"},
		{"/p/shop", []string{"v10", "v9"}, "v8 data-production v10 v9"},
		{"/p/shop?cursor=2", []string{"v8", "v7"}, "v7"},
		{"/p/shop?q=v9", []string{"v9"}, "v9"},
		{"/p/shop?q=v", []string{"v9", "v8"}, "v8 data-production v9"},
	} {
		s.answers["/versions"] = page(tc.list...)
		v.sees(tc.path)
		if got := strings.Join(v.rows(), " "); got != tc.want {
			t.Errorf("%s of %v: %s, want %s", tc.path, tc.list, got, tc.want)
		}
	}
}
