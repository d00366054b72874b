//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

const eventScript = `
import { WorkerEntrypoint } from "cloudflare:workers";
export default class extends WorkerEntrypoint {
  async fetch(request) {
    if (request.url.endsWith("/throw")) throw new TypeError("thrown");
    return new Response((await this.env.KV.get("last")) ?? "never");
  }
  async scheduled({ cron }) {
    console.log("begin", cron);
    if (cron === "throw") throw new RangeError("boom");
    if (cron === "wait") await scheduler.wait(600_000);
    await this.env.KV.put("last", cron);
  }
}`

// TestEvents runs the scheduled handler of a real version by hand, while processes are
// killed and calls are canceled.
func TestEvents(t *testing.T) {
	t.Parallel()
	d := started(t)
	v := d.deploy(worker(t, `{ "name": "hello", "main": "index.js", "compatibility_date": "2026-11-01", "kv_namespaces": [{ "binding": "KV" }] }`,
		map[string]string{"index.js": eventScript}), "--version", "v1")
	d.eventEnds(v, "*/5 * * * *", api.EventOutcomeOK, "")
	if got := d.get(v.PreviewURL); got.Body != "*/5 * * * *" {
		t.Errorf("the handler left %q", got.Body)
	}
	if run := d.eventEnds(v, "throw", api.EventOutcomeException, "RangeError: boom"); !strings.Contains(run.Error.Stack, "index.js") || len(run.Logs) != 2 {
		t.Errorf("%+v, stack %q", run.Logs, run.Error.Stack)
	}
	thrown := d.get(v.PreviewURL + "/throw")
	if thrown.Status != 500 || !strings.Contains(thrown.Body, "TypeError: thrown\n    at index_default.fetch (index.js:5:") || !strings.Contains(thrown.Body, "\nsvcctl logs hello/v1 --request ") {
		t.Errorf("an exception on the preview host: %d %s", thrown.Status, thrown.Body)
	}
	d.deadlineEnds(v)

	ctx, hangUp := context.WithCancel(t.Context())
	canceled := d.eventBegins(ctx, v)
	hangUp()
	if e := svctest.Wait(t, "the end of the call", canceled); !errors.Is(e.err, context.Canceled) {
		t.Errorf("a canceled call: %+v, %v", e.run, e.err)
	}
	d.logs(v, `scheduled "wait": canceled after`)

	killed := d.eventBegins(t.Context(), v)
	if err := syscall.Kill(d.pidOf(workerd+" serve"), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if e := svctest.Wait(t, "the result", killed); e.err != nil || e.run.Outcome != api.EventOutcomeExited {
		t.Errorf("of a worker that was killed: %+v, %v", e.run, e.err)
	}
	svctest.Succeeds(t, "the next run", func() error {
		r, err := d.trigger(t.Context(), v, "again", 0)
		if err == nil && r.Outcome != api.EventOutcomeOK {
			err = fmt.Errorf("%s: %s", r.Outcome, r.Error.Message)
		}
		return err
	})

	stopped := d.eventBegins(t.Context(), v)
	if _, err := d.client().Archive(t.Context(), v.ProjectID, v.ID); client.CodeOf(err) != "version_is_production" {
		t.Errorf("archived production: %v", err)
	}
	d.deploy(hello(t, "no handler"), "--version", "v2")
	if _, err := d.trigger(t.Context(), api.Version{ProjectID: v.ProjectID, ID: "v2"}, "", 0); client.CodeOf(err) != "handler_missing" {
		t.Errorf("without a handler: %v", err)
	}
	d.ok(d.home, "promote", "hello/v2", "--leave-writes")
	if _, err := d.client().Archive(t.Context(), v.ProjectID, v.ID); err != nil {
		t.Fatal(err)
	}
	if e := svctest.Wait(t, "the result", stopped); e.err != nil || e.run.Outcome != api.EventOutcomeCanceled {
		t.Errorf("of a version that was archived: %+v, %v", e.run, e.err)
	}
	if _, err := d.trigger(t.Context(), v, "", 0); client.CodeOf(err) != "version_archived" {
		t.Errorf("of an archived version: %v", err)
	}
}

func (d *daemon) trigger(ctx context.Context, v api.Version, cron string, limit int) (api.ScheduledRun, error) {
	return d.client().TriggerScheduled(ctx, v.ProjectID, v.ID, api.TriggerScheduled{Cron: cron, TimeoutMs: limit})
}

// eventEnds runs an event and checks its outcome.
func (d *daemon) eventEnds(v api.Version, cron string, outcome api.EventOutcome, failure string) api.ScheduledRun {
	d.t.Helper()
	run, err := d.trigger(d.t.Context(), v, cron, 0)
	d.eventEnded(run, err, cron, outcome, failure)
	return run
}

func (d *daemon) eventEnded(run api.ScheduledRun, err error, cron string, outcome api.EventOutcome, failure string) {
	d.t.Helper()
	got := ""
	if run.Error != nil {
		got = strings.TrimPrefix(run.Error.Name+": "+run.Error.Message, ": ")
	}
	if err != nil || run.Outcome != outcome || got != failure || len(run.Logs) == 0 || run.Logs[0].Message != "begin "+cron {
		d.t.Errorf("%s: %+v, %q, %v", cron, run, got, err)
	}
}

// deadlineEnds ends an event at its deadline. On a busy machine the handler begins late: it
// is the first deadline before which it has begun.
func (d *daemon) deadlineEnds(v api.Version) {
	d.t.Helper()
	for limit := 100; ; limit *= 3 {
		run, err := d.trigger(d.t.Context(), v, "wait", limit)
		if err != nil || len(run.Logs) > 0 || limit > 60_000 {
			d.eventEnded(run, err, "wait", api.EventOutcomeTimeout, "the event was ended at its deadline")
			return
		}
	}
}

// triggered is the result of a call to the API.
type triggered struct {
	run api.ScheduledRun
	err error
}

// eventBegins starts a long event and returns when its handler runs.
func (d *daemon) eventBegins(ctx context.Context, v api.Version) <-chan triggered {
	d.t.Helper()
	seen := d.count(v, "begin wait")
	ended := make(chan triggered, 1)
	go func() {
		r, err := d.trigger(ctx, v, "wait", 0)
		ended <- triggered{r, err}
	}()
	svctest.Eventually(d.t, "the event to begin", func() bool { return d.count(v, "begin wait") > seen })
	return ended
}

// count counts the lines of a version's log that begin with a prefix.
func (d *daemon) count(v api.Version, text string) (n int) {
	d.t.Helper()
	lines, err := d.client().Logs(d.t.Context(), v.ProjectID, v.ID, 1000)
	if err != nil {
		d.t.Error(err)
	}
	for _, l := range lines {
		if strings.HasPrefix(l.Message, text) {
			n++
		}
	}
	return n
}

// logs waits for a line of a version's log.
func (d *daemon) logs(v api.Version, text string) {
	d.t.Helper()
	svctest.Succeeds(d.t, "a line of the log", func() error {
		if d.count(v, text) == 0 {
			return fmt.Errorf("there is no line %q", text)
		}
		return nil
	})
}
