package dashboard_test

import (
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

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

// TestActivityInSentences: a promote is one row that says what it left behind.
func TestActivityInSentences(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	event := func(kind, version string, d api.EventData) api.Event {
		return api.Event{Type: kind, ProjectID: "shop", VersionID: version, Time: api.At(time.Now()), Data: d}
	}
	s.events = []api.Event{
		event("version.created", "v9", api.EventData{GitRef: "main"}), event("queue.depth", "", api.EventData{}), event("version.step", "v9", api.EventData{Step: "fetching"}),
		event("version.status", "v9", api.EventData{Status: "ready", Previous: "deploying"}), event("promotion.started", "v9", api.EventData{OperationID: "op-9"}),
		event("promotion.step", "v9", api.EventData{Step: "drain", OperationID: "op-9"}), event("project.production", "v9", api.EventData{Previous: "v8"}),
		event("promotion.done", "v9", api.EventData{OperationID: "op-9", Status: "done", Previous: "v8"}), event("promotion.done", "v7", api.EventData{OperationID: "op-7", Status: "done", Previous: "one"}),
		event("audit", "v9", api.EventData{Action: "promoteVersion", Actor: "ana", Status: "202"}), event("audit", "v9", api.EventData{Action: "destroyVersion", Actor: "ana", Status: "409"}),
	}
	list, _ := s.answers["/promotions"].(api.PromotionPage)
	s.answers["/promotions"] = api.PromotionPage{Items: append(list.Items, api.Promotion{
		OperationID: "op-9", Kind: api.PromotionKindPromote, ProjectID: "shop", VersionID: "v9", PreviousVersionID: "v8", Status: "done",
		Unmerged: &api.Unmerged{Keys: api.WrittenRecords{Inserted: 19}},
	})}
	v := s.visit()
	v.sees("/activity", `<a href="/p/shop/v/v9">shop/v9</a> became production, 19 writes left in v8<`, "shop/v7</a> became production, all data left in one<", "shop/v9</a> is being deployed from main<", "shop/v9</a> is ready<",
		">ana tried to destroy shop/v9: 409 Conflict<")
	if n := strings.Count(v.page, "<tr><td"); n != 5 {
		t.Errorf("%d rows: %s", n, v.page)
	}
}

// TestAuditInSentences: the audit says who did what.
func TestAuditInSentences(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.other = map[string]any{"/v1/audit": api.AuditPage{Items: []api.AuditRecord{
		{Time: api.At(time.Now()), Actor: api.AuditActor{Name: "ana", Token: "admin"}, Action: "promoteVersion", ProjectID: "shop", VersionID: "v8", Status: http.StatusAccepted},
	}}}
	s.visit().sees("/audit", `>ana <span class="dim">admin</span>`, ">promoted shop/v8<")
}

// TestFailureInSources: places of a failure are those of the sources, on each page that shows it.
func TestFailureInSources(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	failed := api.Version{
		ID: "v9", ProjectID: "shop", Status: api.VersionStatusFailed, Error: "deploying: it threw at index.js:3:3", ErrorInSources: "deploying: it threw at src/index.ts:1:24",
		ErrorOutput: "out index.js:3:3", ErrorOutputInSources: "out src/index.ts:1:24",
	}
	failed.Timeline = []api.StepRun{{Step: "deploying", Status: "failed", StartedAt: api.At(time.Now()), Detail: failed.Error}}
	s.answers["/versions"], s.answers["/versions/v9"] = api.VersionPage{Items: []api.Version{failed}}, failed
	s.other = map[string]any{"/v1/projects": api.ProjectPage{}, "/v1/server": api.Server{}, "/v1/health/deep": api.DeepHealth{}}
	v := s.visit()
	for path, n := range map[string]int{"/": 1, "/p/shop": 1, "/p/shop/v/v9": 3} {
		v.sees(path)
		if got := strings.Count(v.page, "src/index.ts:1:24"); got != n || strings.Contains(v.page, "index.js:3:3") {
			t.Errorf("%s names the place %d times, want %d: %s", path, got, n, v.page)
		}
	}
}

// TestPinsHaveWords: a pin by a person and that of a previous production differ.
func TestPinsHaveWords(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.answers["/versions"] = api.VersionPage{Items: []api.Version{
		{ID: "v7", ProjectID: "shop", Status: "ready", Pinned: true, PinnedBy: api.VersionPinnedByRollback}, {ID: "v6", ProjectID: "shop", Status: "ready", Pinned: true, PinnedBy: api.VersionPinnedByUser},
	}}
	s.visit().sees("/p/shop", `title="Kept as the previous production; a later promote may release it">rollback</span>`, `<span class="tag">pinned</span>`)
}

// TestPlainValues: values of the project file are shown, those of overrides are hidden until asked for.
func TestPlainValues(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.answers["/versions/v8/env"] = api.EnvList{Items: []api.EnvEntry{{Key: "GREETING", Value: "Moin", Source: api.EnvSourceBundle}, {Key: "KEY", Value: "hunter2", Source: api.EnvSourceOverride}}}
	v := s.visit()
	v.sees("/p/shop/v/v8/env", ">Moin<", ">hidden<")
	if strings.Contains(v.page, "hunter2") {
		t.Error("the value of an override is shown")
	}
}
