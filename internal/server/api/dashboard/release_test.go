package dashboard_test

import (
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/server/api/dashboard"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// shop is an API with one project: v8 was released from v7-check on the data of v7, the safety
// version. other is unrelated to them.
type shop struct {
	t       *testing.T
	answers map[string]any // by path below /v1/projects/shop
	other   map[string]any // by path elsewhere
	events  []api.Event
	refuse  *api.Problem // of POSTs
	mu      sync.Mutex
	posted  []string // path and body
}

func newShop(t *testing.T) *shop {
	held := 84.2
	done := api.Promotion{
		OperationID: "op-8", Kind: api.PromotionKindRelease, ProjectID: "shop", VersionID: "v8", CandidateVersionID: "v7-check", PreviousVersionID: "v7",
		Status: api.PromotionStatusDone, HeldMs: &held, Moved: &api.MovedWork{Instances: 2}, CreatedAt: api.At(time.Now()),
	}
	first := api.Promotion{
		OperationID: "op-7", Kind: api.PromotionKindPromote, ProjectID: "shop", VersionID: "v7", PreviousVersionID: "one", Status: api.PromotionStatusDone, CreatedAt: api.At(time.Now()),
		Unmerged: &api.Unmerged{Reason: api.UnmergedReasonUnrelated},
	}
	version := func(id string) api.Version {
		return api.Version{ID: id, ProjectID: "shop", Status: api.VersionStatusReady, Events: api.VersionEventsOn}
	}
	v8, v7, check := version("v8"), version("v7"), version("v7-check")
	v8.IsProduction, v8.ReleasedFrom, v7.HandedOverTo, v7.Events, check.Events = true, "v7-check", "v8", api.VersionEventsHandedOver, api.VersionEventsOff
	events := []api.Event{{Type: "promotion.done", ProjectID: "shop", VersionID: "v8", Data: api.EventData{OperationID: "op-8", Status: "done"}}}
	return &shop{t: t, events: events, answers: map[string]any{
		"": api.Project{ID: "shop", ProdVersionID: "v8", Guard: true, ReadOnly: true}, "/promotions": api.PromotionPage{Items: []api.Promotion{done, first}}, "/promotions/op-8": done,
		"/versions/v8": v8, "/versions/v7": v7, "/versions/v7-check": check, "/versions/other": version("other"), "/compare": api.Comparison{}, "/versions": api.VersionPage{Items: []api.Version{v8, v7, check}},
		"/versions/v7/release-plan":         api.ReleasePlan{ProjectID: "shop", VersionID: "v7", ProductionVersionID: "v8"},
		"/versions/v7-check/release-plan":   api.ReleasePlan{ProjectID: "shop", VersionID: "v7-check", ProductionVersionID: "v8", Blocked: "release_too_slow: the expected hold is 9s"},
		"/versions/v7/promotion-plan":       api.PromotionPlan{ProductionVersionID: "v8", Unmerged: &api.Unmerged{CommonVersionID: "v7", Keys: api.WrittenRecords{Inserted: 25}}},
		"/versions/v7-check/promotion-plan": api.PromotionPlan{ProductionVersionID: "v8", Unmerged: &api.Unmerged{CommonVersionID: "v7"}},
		"/versions/other/promotion-plan":    api.PromotionPlan{ProductionVersionID: "v8", Unmerged: &api.Unmerged{Reason: api.UnmergedReasonUnrelated}},
		"/versions/v8/database":             api.DatabaseList{Items: []api.Database{{Binding: "DB", SizeBytes: 4096}}}, "/versions/v8/kv": api.NamespaceList{Items: []api.Namespace{{Binding: "VISITS", Keys: 25}}},
		"/versions/v8/objects": api.BucketList{}, "/versions/v8/queues": api.QueueList{}, "/versions/v8/workflows": api.WorkflowList{},
		"POST /versions/v7-check/release": api.ReleaseAccepted{OperationID: "op-8"}, "POST /versions/v7/release": api.ReleaseAccepted{OperationID: "op-8"},
		"POST /versions/v7/promote": api.PromotionAccepted{OperationID: "op-8"}, "POST /versions/other/promote": api.PromotionAccepted{OperationID: "op-8"},
	}}
}

func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, in := strings.CutPrefix(r.URL.Path, "/v1/projects/shop")
	body, status := s.answers[path], http.StatusOK
	if r.Method == http.MethodPost && in {
		var text strings.Builder
		var sent map[string]any
		_ = json.NewDecoder(r.Body).Decode(&sent)
		_ = json.NewEncoder(&text).Encode(sent)
		s.mu.Lock()
		s.posted = append(s.posted, path+" "+strings.TrimSpace(text.String()))
		s.mu.Unlock()
		if body, status = s.answers["POST "+path], http.StatusAccepted; s.refuse != nil {
			body, status = s.refuse, s.refuse.Status
		}
	}
	if !in {
		body = s.elsewhere(r.URL.Path)
	}
	if body == nil {
		s.t.Errorf("no answer to %s %s", r.Method, r.URL.Path)
	}
	w.Header().Set("Content-Type", "application/json")
	if status >= http.StatusBadRequest {
		w.Header().Set("Content-Type", api.ProblemContentType)
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// elsewhere answers what is not of the project.
func (s *shop) elsewhere(path string) any {
	if body, ok := s.other[path]; ok {
		return body
	}
	return map[string]any{
		"/v1/whoami": api.Whoami{Roles: []api.WhoamiRoles{api.WhoamiRolesAdmin}}, "/v1/metrics/summary": api.MetricsSummary{}, "/v1/queue": api.DeployQueue{}, "/v1/runtime/routes": api.RoutePage{}, "/v1/versions": s.answers["/versions"],
		"/v1/events": api.EventPage{Items: s.events},
	}[path]
}

// visitor has a session of a dashboard of a shop.
type visitor struct {
	t      *testing.T
	pages  *dashboard.Dashboard
	cookie string
	page   string // the last answer
}

func (s *shop) visit() *visitor {
	pages, err := dashboard.New(dashboard.Config{API: s, Logger: slog.New(slog.NewTextHandler(os.Stderr, nil))})
	if err != nil {
		s.t.Fatal(err)
	}
	v := &visitor{t: s.t, pages: pages}
	w := v.send(http.MethodPost, "/sign-in", url.Values{"token": {"any"}})
	v.cookie, _, _ = strings.Cut(w.Header().Get("Set-Cookie"), ";")
	return v
}

func (v *visitor) send(method, path string, form url.Values) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(v.t.Context(), method, path, strings.NewReader(form.Encode()))
	r.Header.Set("Accept", "text/html")
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.Header.Set("Cookie", v.cookie)
	w := httptest.NewRecorder()
	v.pages.ServeHTTP(w, r)
	v.page = w.Body.String()
	return w
}

// sees loads a page and fails the test unless it has all texts.
func (v *visitor) sees(path string, texts ...string) {
	v.t.Helper()
	if w := v.send(http.MethodGet, path, nil); w.Code != http.StatusOK {
		v.t.Errorf("%s: %d", path, w.Code)
	}
	v.has(path, texts...)
}

func (v *visitor) has(path string, texts ...string) {
	v.t.Helper()
	for _, text := range texts {
		if !strings.Contains(v.page, text) {
			v.t.Errorf("%s lacks %q: %s", path, text, v.page)
		}
	}
}

// submit sends the form of the last page with all fields that it has a value for, and more.
func (v *visitor) submit(path string, more url.Values) int {
	v.t.Helper()
	form := url.Values{}
	for _, m := range regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)"`).FindAllStringSubmatch(v.page[strings.Index(v.page, `id="ask"`):], -1) {
		form.Set(m[1], m[2])
	}
	maps.Copy(form, more)
	return v.send(http.MethodPost, path, form).Code
}

// wantPosted fails the test unless exactly these requests were sent since the last call.
func (s *shop) wantPosted(want ...string) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if strings.Join(s.posted, "\n") != strings.Join(want, "\n") {
		s.t.Errorf("sent %q, want %q", s.posted, want)
	}
	s.posted = nil
}

// TestReleaseIsFirst: a ready version offers the release before the promote, and the pages of
// versions say which part of a release they were.
func TestReleaseIsFirst(t *testing.T) {
	t.Parallel()
	v := newShop(t).visit()
	v.sees("/p/shop/v/v7-check", `<a class="button primary" href="/p/shop/v/v7-check/release" data-dialog>Release on the data of v8</a>`, "Promote with its own data", "events off", "project read-only")
	if strings.Index(v.page, ">Release on") > strings.Index(v.page, ">Promote with") {
		t.Error("the promote comes first")
	}
	v.sees("/p/shop/v/v7", ">before v8<", "Handed over to", `<a class="button" href="/p/shop/v/v7/release"`)
	v.sees("/p/shop/v/v8", "Released from", "released v7-check as v8 · held 84 ms")
	v.sees("/p/shop", ">before v8<", ">read-only<", ">guard<")
	v.sees("/activity", "released v7-check as v8 · held 84 ms")
	v.sees("/p/shop/promotions", `release <span class="dim">of v7-check`, ">84 ms<", `<span class="bad">all data</span>`)
	v.sees("/p/shop/promotions/op-8", "released v7-check as v8 · held 84 ms", "2 workflow instances, 0 alarms")
}

// TestRollbackSaysWhere: after a release there are two ways back, which say what becomes of the data.
func TestRollbackSaysWhere(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	v := s.visit()
	for _, page := range []string{"/p/shop", "/p/shop/v/v8", "/p/shop/rollback"} {
		v.sees(page, ">Back to the code of v7, data kept<", ">Back to v7 with its data of before v8<")
	}
	v.sees("/p/shop/rollback?data=keep", "Back to the code of v7, data kept")
	if got := v.submit("/p/shop/v/v7/release", url.Values{"reason": {"slow"}}); got != http.StatusSeeOther {
		t.Errorf("%d %s", got, v.page)
	}
	s.wantPosted(`/versions/v7/release {"expected_prod_version_id":"v8","reason":"rollback: slow","rollback":true}`)
	v.sees("/p/shop/rollback?data=restore", "Roll back shop to v7 with its data of before v8", `class="stays busy"`, "<td>25</td>", "svcctl data export shop/v8 --since-cut", "/p/shop/rollback?data=keep")
	if got := v.submit("/p/shop/v/v7/promote", url.Values{"leave_writes": {"1"}}); got != http.StatusSeeOther {
		t.Errorf("%d %s", got, v.page)
	}
	s.wantPosted(`/versions/v7/promote {"expected_prod_version_id":"v8","leave_writes":true,"reason":"rollback"}`)
}

// TestRollbackToAStranger: going back to a version that has none of production's data needs consent,
// and nothing to type.
func TestRollbackToAStranger(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.answers["/versions/v7/promotion-plan"] = api.PromotionPlan{ProductionVersionID: "v8", Unmerged: &api.Unmerged{Reason: api.UnmergedReasonLost}}
	v := s.visit()
	v.sees("/p/shop/rollback?data=restore", `class="stays bad"`, "Nothing of what was written to v8 is known to be in v7", `name="leave_writes" value="1" required`)
	if strings.Contains(v.page, "data-must") {
		t.Error("something is to be typed")
	}
}

// TestRollbackOverMigrations: a refused release of earlier code asks, and then forces it.
func TestRollbackOverMigrations(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	v := s.visit()
	v.sees("/p/shop/rollback?data=keep")
	s.refuse = &api.Problem{Status: http.StatusConflict, Code: svc.CodeSchemaMoved, Detail: "0004_total.sql was applied since"}
	if got := v.submit("/p/shop/v/v7/release", nil); got != http.StatusConflict {
		t.Errorf("%d %s", got, v.page)
	}
	v.has("the refusal", "0004_total.sql was applied since", `name="force"`)
	s.refuse = nil
	if got := v.submit("/p/shop/v/v7/release", url.Values{"force": {"1"}}); got != http.StatusSeeOther {
		t.Errorf("%d %s", got, v.page)
	}
	s.wantPosted(`/versions/v7/release {"expected_prod_version_id":"v8","reason":"rollback","rollback":true}`,
		`/versions/v7/release {"expected_prod_version_id":"v8","force":true,"reason":"rollback","rollback":true}`)
}

// TestPromoteOfAStranger: the dialog is strongest where nothing of production's data is in the
// version, and wants the project to be typed.
func TestPromoteOfAStranger(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	v := s.visit()
	v.sees("/p/shop/v/other/promote", `class="stays bad"`, "Production would be empty or unrelated", "nothing of production's data is in other", "VISITS", "25 keys", "svcctl data export shop/v8 --since-cut",
		`href="/p/shop/v/other/release"`, `data-must="shop"`, `<button class="danger">`)
	if got := v.submit("/p/shop/v/other/promote", url.Values{"confirm": {"other"}}); got != http.StatusOK {
		t.Errorf("%d %s", got, v.page)
	}
	v.has("another word", "This is another project.")
	s.wantPosted()
	if got := v.submit("/p/shop/v/other/promote", url.Values{"confirm": {"shop"}}); got != http.StatusSeeOther {
		t.Errorf("%d %s", got, v.page)
	}
	s.wantPosted(`/versions/other/promote {"expected_prod_version_id":"v8","leave_writes":true,"reason":"dashboard"}`)
}

// TestRefusedPromote: writes between the dialog and the promote are shown, and need consent.
func TestRefusedPromote(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	v := s.visit()
	v.sees("/p/shop/v/v7-check/promote", "v8 wrote nothing that v7-check lacks", `<button class="primary">`)
	s.refuse = &api.Problem{Status: http.StatusConflict, Code: svc.CodePromoteLeaves, Unmerged: &api.Unmerged{CommonVersionID: "v7", Keys: api.WrittenRecords{Deleted: 7}}}
	if got := v.submit("/p/shop/v/v7-check/promote", nil); got != http.StatusConflict {
		t.Errorf("%d %s", got, v.page)
	}
	v.has("the refusal", "The promote was refused", "<td>7</td>", `name="leave_writes" value="1" required`)
	s.wantPosted(`/versions/v7-check/promote {"expected_prod_version_id":"v8","reason":"dashboard"}`)
}

// TestReleasePlan: a release that would be refused says why, and has no button.
func TestReleasePlan(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	v := s.visit()
	v.sees("/p/shop/v/v7-check/release", "release_too_slow: the expected hold is 9s", " disabled>Release on the data of v8")
}
