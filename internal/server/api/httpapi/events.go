package httpapi

import (
	"context"
	"time"
	"unicode/utf8"

	"github.com/svcctl/svcctl/internal/server/api/httpapi/oas"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

const (
	maxEventTime = 15 * time.Minute
	maxCron      = 256 // characters
)

// TriggerScheduled answers POST .../scheduled.
func (h handlers) TriggerScheduled(ctx context.Context, r oas.TriggerScheduledRequestObject) (oas.TriggerScheduledResponseObject, error) {
	ref := svc.Ref{Project: r.Project, Version: r.Version}
	v, err := h.Versions.Version(ctx, ref)
	if err == nil {
		err = hasData(v)
	}
	if err != nil {
		return nil, err
	}
	var body api.TriggerScheduled
	if r.Body != nil {
		body = *r.Body
	}
	run, limit, err := scheduledRun(body, time.Now())
	if err != nil {
		return nil, err
	}
	result, err := h.Events.Dispatch(ctx, ref, svc.Event{Scheduled: &run, Limit: limit})
	if err != nil {
		return nil, err
	}
	return oas.TriggerScheduled200JSONResponse(runOut(run, result)), nil
}

// scheduledRun returns the requested run and its time limit.
func scheduledRun(body api.TriggerScheduled, now time.Time) (svc.Scheduled, time.Duration, error) {
	run, timeout := svc.Scheduled{Cron: body.Cron, Time: now}, maxEventTime
	if body.ScheduledTime != nil {
		run.Time = body.ScheduledTime.Time
	}
	if body.TimeoutMs != 0 {
		timeout = time.Duration(body.TimeoutMs) * time.Millisecond
	}
	run.Time = run.Time.UTC().Truncate(time.Millisecond) // the precision of JavaScript
	var bad []svc.FieldError
	refuse := func(field, detail string) {
		bad = append(bad, svc.FieldError{Pointer: pointer(field), Code: svc.CodeInvalidEvent, Detail: detail})
	}
	if utf8.RuneCountInString(run.Cron) > maxCron {
		refuse("cron", "a cron expression has at most 256 characters")
	}
	if y := run.Time.Year(); y < 1970 || y > 2200 {
		refuse("scheduled_time", "a scheduled time is between the years 1970 and 2200")
	}
	if timeout <= 0 || timeout > maxEventTime {
		refuse("timeout_ms", "a timeout is between 1 and 900000 milliseconds")
	}
	return run, timeout, svc.Invalid(bad)
}

func runOut(run svc.Scheduled, r svc.EventResult) api.ScheduledRun {
	out := api.ScheduledRun{
		Outcome: api.EventOutcome(r.Outcome), Cron: run.Cron, ScheduledTime: api.At(run.Time), NoRetry: r.NoRetry,
		DurationMs: r.Duration.Milliseconds(), Logs: each(r.Logs, logLine), LogsDropped: r.LogsDropped,
	}
	if e := r.Error; e != nil {
		out.Error = &api.EventError{Name: e.Name, Message: e.Message, Stack: e.Stack}
	}
	return out
}
