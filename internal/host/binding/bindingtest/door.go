package bindingtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/svc"
)

// Running is a worker that serves, and what a test can do to it.
type Running struct {
	binding.Worker
	// Remote says that an event may be cut off from its caller: its result is then
	// the outcome, without lines and in other words.
	Remote bool
	// Post sends a request to the worker and gives the body of its answer.
	Post func(path, body string) string
	// Kill ends workerd immediately, as a crash does.
	Kill func()
	// Stop stops the version. Events under way have the grace.
	Stop func(grace time.Duration)
}

// doorScript is a worker whose events do what their cron expression says. Its
// fetch waits until an event is under way.
const doorScript = `
class OwnError extends Error { constructor(m) { super(m); this.name = "OwnError"; } }
let running = 0;
const run = {
  ok: (c) => console.log("cron", c.cron, c.scheduledTime),
  lines: () => { console.log("one"); console.error("two\nlines"); },
  work: (c, ctx) => { ctx.waitUntil((async () => { await scheduler.wait(20); console.log("worked"); })()); },
  throw: () => { console.log("before"); throw new OwnError("boom"); },
  text: () => { throw "a string" },
  reject: (c, ctx) => { ctx.waitUntil(Promise.reject(new TypeError("in waitUntil"))); },
  final: (c) => { c.noRetry(); throw new Error("never again"); },
  hang: () => new Promise(() => {}),
  flood: () => { for (let i = 0; i < 1100; i++) console.log("line", i); },
  wait: async () => { running++; console.log("waiting"); await scheduler.wait(600_000); },
  short: async () => { running++; await scheduler.wait(300); console.log("done"); },
  reach: async (c, env) => {
    const tried = [];
    for (const url of ["http://door/", "http://127.0.0.1/", "unix:/door.sock"]) {
      try { tried.push((await fetch(url, { method: "POST" })).status); } catch (e) { tried.push("refused"); }
    }
    console.log(JSON.stringify(tried));
  },
};
export default {
  async fetch(req) {
    while (running === 0) await scheduler.wait(5);
    return new Response(String(running));
  },
  async scheduled(c, env, ctx) { await (run[c.cron] ?? run.ok)(c, ctx); },
  async queue(batch) {
    for (const m of batch.messages) {
      console.log(m.id, m.attempts, m.timestamp.toISOString(), m.body instanceof ArrayBuffer ? m.body.byteLength : JSON.stringify(m.body));
      if (m.body === "again") m.retry({ delaySeconds: 7 });
      if (m.body === "taken") m.ack();
    }
    if (batch.queue === "all") batch.retryAll({ delaySeconds: 30 });
    if (batch.queue === "throws") throw new Error("in queue");
  },
};`

// Door is what every way to a worker must pass. start runs a worker of source.
func Door(t *testing.T, start func(t *testing.T, source string) Running) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, Running){
		"outcomes": outcomes, "queue": queueBatch, "many": manyEvents, "deadline": deadline, "canceled": canceledEvent,
		"killed": killed, "stopped": stopped, "drained": drained,
	} {
		t.Run(name, func(t *testing.T) { t.Parallel(); test(t, start(t, doorScript)) })
	}
	t.Run("no handler", func(t *testing.T) {
		t.Parallel()
		noHandler(t, start(t, "export default { fetch: () => new Response('not scheduled') };"))
	})
	t.Run("no word of a handler", func(t *testing.T) {
		t.Parallel()
		noHandler(t, start(t, "export default { fetch: () => new Response('') };"))
	})
}

// due is when the events of the suite were due.
func due() time.Time { return time.Date(2026, 11, 22, 12, 30, 0, 123e6, time.UTC) }

func cron(expression string) svc.Event {
	return svc.Event{Scheduled: &svc.Scheduled{Cron: expression, Time: due()}}
}

// mustRun dispatches an event that the worker sees.
func mustRun(ctx context.Context, t *testing.T, w binding.Worker, e svc.Event) svc.EventResult {
	t.Helper()
	r, err := w.Dispatch(ctx, e)
	if err != nil {
		t.Errorf("%s: %v", e.Handler(), err)
	}
	return r
}

// messages are the texts of what was printed.
func messages(r svc.EventResult) string {
	var text []string
	for _, l := range r.Logs {
		text = append(text, l.Level+": "+l.Message)
	}
	return strings.Join(text, "; ")
}

// ended checks everything that a result says.
func ended(t *testing.T, what string, r svc.EventResult, outcome svc.Outcome, failure, logs string) { //nolint:revive // what a result has
	t.Helper()
	got := ""
	if r.Error != nil {
		got = strings.TrimPrefix(r.Error.Name+": "+r.Error.Message, ": ")
	}
	if r.Outcome != outcome || got != failure || !strings.HasPrefix(messages(r), logs) || logs == "" && len(r.Logs) > 0 {
		t.Errorf("%s: %s, %q, logs %q, want %s, %q, logs %q", what, r.Outcome, got, messages(r), outcome, failure, logs)
	}
	if r.Duration <= 0 || r.Duration > time.Minute {
		t.Errorf("%s: took %s", what, r.Duration)
	}
}

func outcomes(t *testing.T, w Running) {
	hung := "The Workers runtime canceled this request because it detected that your Worker's code had hung and would never generate a response. " +
		"Refer to: https://developers.cloudflare.com/workers/observability/errors/"
	for _, c := range []struct {
		cron    string
		outcome svc.Outcome
		failure string
		logs    string // the first of them
	}{
		{"* * * * *", svc.OutcomeOK, "", fmt.Sprintf("log: cron * * * * * %d", due().UnixMilli())},
		{"lines", svc.OutcomeOK, "", "log: one; error: two\nlines"},
		{"work", svc.OutcomeOK, "", "log: worked"},
		{"throw", svc.OutcomeException, "OwnError: boom", "log: before; error: OwnError: boom\n    at "},
		{"text", svc.OutcomeException, "a string", "error: a string"},
		{"reject", svc.OutcomeException, "TypeError: in waitUntil", "error: TypeError: in waitUntil"},
		{"final", svc.OutcomeException, "Error: never again", "error: Error: never again"},
		{"hang", svc.OutcomeException, hung, "error: " + hung},
		{"hang", svc.OutcomeException, hung, "error: " + hung},
		{"reach", svc.OutcomeOK, "", `log: ["refused","refused","refused"]`},
	} {
		r := mustRun(t.Context(), t, w, cron(c.cron))
		if c.cron == "reach" { // what workerd says about a refused address is not the matter here
			r.Logs = slices.DeleteFunc(r.Logs, func(l svc.LogLine) bool { return l.Source != "console" })
		}
		ended(t, c.cron, r, c.outcome, c.failure, c.logs)
		if r.NoRetry != (c.cron == "final") {
			t.Errorf("%s: no retry %t", c.cron, r.NoRetry)
		}
		if stack := r.Error != nil && strings.HasPrefix(r.Error.Stack, "OwnError: boom\n    at "); stack != (c.cron == "throw") {
			t.Errorf("%s: stack %+v", c.cron, r.Error)
		}
	}
	r := mustRun(t.Context(), t, w, cron("flood"))
	if len(r.Logs) != 1000 || r.LogsDropped != 100 || r.Logs[999].Message != "line 999" || r.Logs[0].Time.IsZero() {
		t.Errorf("%d lines, and %d dropped", len(r.Logs), r.LogsDropped)
	}
}

func queueBatch(t *testing.T, w Running) {
	message := func(id, contentType, body string) svc.QueueMessage {
		return svc.QueueMessage{ID: id, Timestamp: due(), Attempts: 2, ContentType: contentType, Body: []byte(body)}
	}
	batch := func(queue string, list ...svc.QueueMessage) svc.EventResult {
		return mustRun(t.Context(), t, w, svc.Event{Queue: &svc.QueueBatch{Queue: queue, Messages: list}})
	}
	const seen = ` 2 2026-11-22T12:30:00.123Z `
	r := batch("q", message("a", "text", "taken"), message("b", "json", `{"n":1}`), message("c", "bytes", "\x00\xff"), message("d", "json", `"again"`),
		message("e", "v8", "\xff\x0f\"\x02v8"))
	ended(t, "batch", r, svc.OutcomeOK, "", `log: a`+seen+`"taken"; log: b`+seen+`{"n":1}; log: c`+seen+`2; log: d`+seen+`"again"; log: e`+seen+`"v8"`)
	if q := r.Queue; q == nil || q.AckAll || q.RetryAll || q.RetryDelay != svc.QueueDelay || !slices.Equal(q.Acked, []string{"a"}) || !slices.Equal(q.Retried, []svc.QueueRetry{{ID: "d", Delay: 7}}) {
		t.Errorf("%+v", q)
	}
	if q := batch("all", message("a", "text", "x")).Queue; q == nil || !q.RetryAll || q.RetryDelay != 30 {
		t.Errorf("all are to be retried: %+v", q)
	}
	r = batch("throws", message("a", "text", "taken"))
	ended(t, "throws", r, svc.OutcomeException, "Error: in queue", "log: a")
	if q := r.Queue; q == nil || !slices.Equal(q.Acked, []string{"a"}) {
		t.Errorf("acknowledged before the exception: %+v", q)
	}
	if _, err := w.Dispatch(t.Context(), svc.Event{Queue: &svc.QueueBatch{Messages: []svc.QueueMessage{message("a", "json", "{")}}}); err == nil {
		t.Error("a message that is not what it says was delivered")
	}
}

// manyEvents run at the same time, and each has its own outcome.
func manyEvents(t *testing.T, w Running) {
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			want := svc.OutcomeOK
			name := fmt.Sprint("many ", i)
			if i%4 == 0 {
				name, want = "throw", svc.OutcomeException
			}
			r := mustRun(t.Context(), t, w, cron(name))
			if r.Outcome != want || i%4 != 0 && !strings.Contains(messages(r), "cron "+name+" ") {
				t.Errorf("%s: %s, %s", name, r.Outcome, messages(r))
			}
		})
	}
	all.Wait()
}

// begin dispatches an event and returns when it is under way.
func begin(ctx context.Context, t *testing.T, w Running, e svc.Event) <-chan svc.EventResult {
	t.Helper()
	result := make(chan svc.EventResult, 1)
	go func() { result <- mustRun(ctx, t, w, e) }()
	w.Post("/", "")
	return result
}

// cutOff checks the result of an event that was under way and waited.
func (w Running) cutOff(t *testing.T, r svc.EventResult, outcome svc.Outcome, failure string) {
	t.Helper()
	if w.Remote && r.Error != nil && r.Error.Message != "" && len(r.Logs) == 0 {
		ended(t, "cut off", r, outcome, r.Error.Message, "")
		return
	}
	ended(t, "cut off", r, outcome, failure, "log: waiting")
}

// runsAfter runs an event after one that was cut off, whose last line may come late and
// is then among the lines of this one.
func (w Running) runsAfter(t *testing.T) {
	t.Helper()
	r := mustRun(t.Context(), t, w, cron("lines"))
	for len(r.Logs) > 0 && r.Logs[0].Message == "waiting" {
		r.Logs = r.Logs[1:]
	}
	ended(t, "after it", r, svc.OutcomeOK, "", "log: one")
}

func deadline(t *testing.T, w Running) {
	const failure = "the event was ended at its deadline"
	ended(t, "wait", begun(func(limit time.Duration) svc.EventResult {
		e := cron("wait")
		e.Limit = limit
		return mustRun(t.Context(), t, w, e)
	}), svc.OutcomeTimeout, failure, "log: waiting")
	cut := func(limit time.Duration) svc.EventResult {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		return mustRun(ctx, t, w, cron("wait"))
	}
	if w.Remote { // the caller does not wait for the lines
		w.cutOff(t, cut(time.Second), svc.OutcomeTimeout, failure)
	} else {
		w.cutOff(t, begun(cut), svc.OutcomeTimeout, failure)
	}
	w.runsAfter(t)
}

// begun runs an event with longer and longer deadlines until its handler has begun: a busy
// machine takes its time to begin. The last result counts in any case.
func begun(run func(limit time.Duration) svc.EventResult) (r svc.EventResult) {
	for limit := 200 * time.Millisecond; limit < time.Minute; limit *= 3 {
		if r = run(limit); len(r.Logs) > 0 {
			break
		}
	}
	return r
}

func canceledEvent(t *testing.T, w Running) {
	ctx, cancel := context.WithCancel(t.Context())
	result := begin(ctx, t, w, cron("wait"))
	cancel()
	w.cutOff(t, <-result, svc.OutcomeCanceled, "the event was canceled")
	if _, err := w.Dispatch(ctx, cron("ok")); !errors.Is(err, context.Canceled) {
		t.Errorf("an event that was canceled before it began: %v", err)
	}
	w.runsAfter(t)
}

func killed(t *testing.T, w Running) {
	result := begin(t.Context(), t, w, cron("wait"))
	w.Kill()
	w.cutOff(t, <-result, svc.OutcomeExited, "the worker's process ended while the event ran")
}

// stopped has an event that outlasts the grace.
func stopped(t *testing.T, w Running) {
	result := begin(t.Context(), t, w, cron("wait"))
	w.Stop(100 * time.Millisecond)
	w.cutOff(t, <-result, svc.OutcomeCanceled, "the version stopped before the event ended")
	if _, err := w.Dispatch(t.Context(), cron("ok")); err == nil {
		t.Error("a version that has stopped took an event")
	}
}

// drained has an event that ends within the grace.
func drained(t *testing.T, w Running) {
	result := begin(t.Context(), t, w, cron("short"))
	w.Stop(30 * time.Second)
	ended(t, "short", <-result, svc.OutcomeOK, "", "log: done")
}

func noHandler(t *testing.T, w Running) {
	for _, e := range []svc.Event{cron("* * * * *"), {Queue: &svc.QueueBatch{Queue: "q"}}} {
		_, err := w.Dispatch(t.Context(), e)
		if svc.CodeOf(err) != svc.CodeHandlerMissing || !errors.Is(err, svc.Unprocessable) {
			t.Errorf("%s: %v", e.Handler(), err)
		}
	}
}
