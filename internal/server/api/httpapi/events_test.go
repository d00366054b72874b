package httpapi_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

const scheduledPath = "/v1/projects/shop/versions/v1/scheduled"

// TestTriggerScheduled checks the response for each outcome and each body.
func TestTriggerScheduled(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	h.ready("shop", "v1")
	trigger := func(body any) reply {
		t.Helper()
		return h.do(request{method: "POST", path: scheduledPath, body: body})
	}
	run := decode[api.ScheduledRun](trigger(nil).want(200))
	if run.Outcome != api.EventOutcomeOK || time.Since(run.ScheduledTime.Time).Abs() > time.Minute || run.Error != nil || run.DurationMs != 12 ||
		len(run.Logs) != 1 || run.Logs[0].Message != "shop/v1  15m0s" {
		t.Errorf("without a body: %+v", run)
	}
	run = decode[api.ScheduledRun](trigger(map[string]any{"cron": "*/5 * * * *", "scheduled_time": "2026-11-22T10:30:00.1239+01:00", "timeout_ms": 60_000}).want(200))
	if run.Cron != "*/5 * * * *" || !run.ScheduledTime.Equal(time.Date(2026, 11, 22, 9, 30, 0, 123e6, time.UTC)) || run.Logs[0].Message != "shop/v1 */5 * * * * 1m0s" {
		t.Errorf("with a body: %+v", run)
	}
	run = decode[api.ScheduledRun](trigger(map[string]any{"cron": "throw"}).want(200))
	if run.Outcome != api.EventOutcomeException || !run.NoRetry || run.Error == nil || *run.Error != (api.EventError{Name: "TypeError", Message: "boom", Stack: "TypeError: boom\n    at x"}) ||
		run.Logs == nil || run.LogsDropped != 3 {
		t.Errorf("of an exception: %+v", run)
	}
	run = decode[api.ScheduledRun](trigger(map[string]any{"cron": "wait", "timeout_ms": 1}).want(200))
	if run.Outcome != api.EventOutcomeTimeout || run.Error.Message != "it was ended" {
		t.Errorf("at its deadline: %+v", run)
	}
	for _, body := range []map[string]any{
		{"cron": strings.Repeat("é", 257)},
		{"scheduled_time": "1969-12-31T00:00:00Z"},
		{"scheduled_time": "2201-01-01T00:00:00Z"},
		{"timeout_ms": 900_001},
		{"timeout_ms": -1},
	} {
		h.do(request{method: "POST", path: scheduledPath, body: body, outside: true}).wantProblem(422, "invalid_event")
	}
	for body, code := range map[string]string{`{"crons":""}`: "unknown_field", `{"cron":5}`: "invalid_type", `{"scheduled_time":"soon"}`: "invalid_json", `[]`: "invalid_json"} {
		h.do(request{method: "POST", path: scheduledPath, body: body, outside: true}).wantProblem(400, code)
	}
}

// TestTriggerScheduledErrors: versions that do not serve, workers without a
// handler, and callers without the token. spec: [C15.3]
func TestTriggerScheduledErrors(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	h.ready("shop", "v1")
	h.do(request{method: "POST", path: scheduledPath, token: "none"}).wantProblem(401, "unauthorized")
	h.do(request{method: "POST", path: scheduledPath, token: deployToken}).wantProblem(403, "forbidden")
	trigger := func() reply { t.Helper(); return h.do(request{method: "POST", path: scheduledPath}) }
	h.fakes.fail(svc.Errorf(svc.Unprocessable, svc.CodeHandlerMissing, "the worker has no scheduled handler"))
	trigger().wantProblem(422, "handler_missing")
	h.fakes.fail(svc.Errorf(svc.Unavailable, svc.CodeRuntimeUnavailable, "it does not serve"))
	r := trigger()
	if r.wantProblem(503, "runtime_unavailable"); r.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	h.fakes.fail(nil)
	version := strings.TrimSuffix(scheduledPath, "/scheduled")
	h.do(request{method: "POST", path: version + "/archive"}).want(200)
	trigger().wantProblem(409, "version_archived")
	h.do(request{method: "DELETE", path: version}).want(200)
	trigger().wantProblem(410, "version_destroyed")
	h.do(request{method: "POST", path: "/v1/projects/shop/versions/none/scheduled"}).wantProblem(404, "version_not_found")
}

// TestTriggerScheduledSDK: the end of the caller's context ends the run.
func TestTriggerScheduledSDK(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	h.ready("shop", "v1")
	c, err := client.New(h.url, client.Tokens{Admin: adminToken}, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if run, err := c.TriggerScheduled(t.Context(), "shop", "v1", api.TriggerScheduled{Cron: "throw"}); err != nil || run.Outcome != api.EventOutcomeException {
		t.Errorf("%+v, %v", run, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := c.TriggerScheduled(ctx, "shop", "v1", api.TriggerScheduled{Cron: "wait"}); err == nil {
		t.Error("a run outlived its caller")
	}
}
