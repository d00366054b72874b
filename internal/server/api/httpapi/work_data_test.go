package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/all"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/pkg/api"
)

// withWork serves a version that sends mail and has a dataset, a queue, a workflow and a cron.
func withWork(t *testing.T) *harness {
	t.Helper()
	h := start(t)
	h.project("shop")
	h.ready("shop", "v-1")
	set, err := binding.OpenAll(t.Context(), all.Kinds(), &bundle.Manifest{
		Crons: []string{"0 0 1 1 *"},
		Bindings: []bundle.Binding{
			{Name: "DB", Kind: "database", Resource: "main"},
			{Name: "MAIL", Kind: "send_email", Resource: "mail", Config: []byte(`{}`)},
			{Name: "POINTS", Kind: "analytics_engine", Resource: "points"},
			{Name: "JOBS", Kind: "queue_producer", Resource: "jobs"},
			{Name: "FLOW", Kind: "workflow", Resource: "flow", Config: []byte(`{"class_name":"Flow"}`)},
		},
	}, bindingtest.OpenVolumes(t, t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = set.Close() })
	h.fakes.bindings = set
	return h
}

// TestWorkOfAVersion: mail, data points, queues, workflows, crons and the export of a database
// are answered as the document says.
// spec: [C14.11] [C14.17] [C14.18]
func TestWorkOfAVersion(t *testing.T) {
	t.Parallel()
	h := withWork(t)
	mail := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/raw?from=a@example.com&to=b@example.com",
		strings.NewReader("From: a@example.com\r\nTo: b@example.com\r\nMessage-ID: <1@example.com>\r\nSubject: hello\r\n\r\ntext\r\n"))
	mail.Header.Set(binding.RouteHeader, "send_email/mail")
	sent := httptest.NewRecorder()
	if h.fakes.bindings.ServeHTTP(sent, mail); sent.Code != http.StatusOK {
		t.Fatal(sent.Body)
	}
	emails := decode[api.EmailList](h.get("/emails").want(200))
	if len(emails.Items) != 1 || emails.Items[0].Subject != "hello" {
		t.Fatalf("%+v", emails)
	}
	h.get("/emails/" + emails.Items[0].ID).want(200)
	points := h.do(request{method: "POST", path: v1 + "/analytics/query", body: api.AnalyticsQuery{SQL: "SELECT count(*) AS n FROM points"}}).want(200)
	if got := decode[api.AnalyticsResult](points); len(got.Rows) != 1 {
		t.Errorf("%s", points.body)
	}
	if q := decode[api.Queue](h.get("/queues/jobs").want(200)); q.Name != "jobs" {
		t.Errorf("%+v", q)
	}
	const flow = v1 + "/workflows/flow/instances"
	h.do(request{method: "POST", path: flow, body: api.CreateWorkflowInstance{ID: "i"}}).want(200)
	for _, verb := range []string{"pause", "resume"} {
		h.do(request{method: "POST", path: flow + "/i/" + verb}).want(200)
	}
	if i := decode[api.WorkflowInstance](h.get("/workflows/flow/instances/i").want(200)); i.ID != "i" {
		t.Errorf("%+v", i)
	}
	if page := decode[api.WorkflowInstancePage](h.get("/workflows/flow/instances").want(200)); len(page.Items) != 1 {
		t.Errorf("%+v", page)
	}
	if list := decode[api.WorkflowList](h.get("/workflows").want(200)); len(list.Items) != 1 || list.Items[0].ClassName != "Flow" {
		t.Errorf("%+v", list)
	}
	if list := decode[api.CronList](h.get("/crons").want(200)); len(list.Items) != 1 || list.Items[0].Cron != "0 0 1 1 *" {
		t.Errorf("%+v", list)
	}
	h.get("/crons/runs").want(200)
	h.query(api.DatabaseQuery{SQL: "CREATE TABLE t (n)", ReadOnly: new(bool)}).want(200)
	if script := h.get("/database/export").want(200); !strings.Contains(string(script.body), "CREATE TABLE") {
		t.Errorf("%s", script.body)
	}
}
