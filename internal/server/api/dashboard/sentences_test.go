package dashboard_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/pkg/api"
)

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
