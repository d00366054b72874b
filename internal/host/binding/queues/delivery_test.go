package queues_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// TestContentTypes: what is sent is what arrives.
func TestContentTypes(t *testing.T) {
	t.Parallel()
	w := open(t, bindingtest.OpenVolumes(t, t.TempDir()), quick("q"))
	before := w.call("q", "metrics")
	if want := `{"value":{"backlogCount":0,"backlogBytes":0}}`; before != want {
		t.Errorf("metrics of an empty queue: %s, want %s", before, want)
	}
	w.send("q", "send", object{"a": args{1, nil, "é"}})
	w.send("q", "send", "text é", object{"contentType": "text"})
	w.send("q", "send", object{"$bytes": args{0, 255}}, object{"contentType": "bytes"})
	w.send("q", "send", object{"$map": args{args{"k", 1}}}, object{"contentType": "v8"})
	w.send("q", "send", "", object{"contentType": "text"})
	w.send("q", "sendBatch", args{object{"body": 1}, object{"body": "two", "contentType": "text"}, object{"body": object{"$bytes": args{}}, "contentType": "bytes"}})
	var bodies []any
	for _, b := range w.seen(8) {
		for _, m := range b.Messages {
			bodies = append(bodies, m.Body)
			if m.Attempts != 1 || !regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(m.ID) || m.After < -clocks {
				t.Errorf("%+v", m)
			}
		}
	}
	want := []any{
		object{"a": args{1.0, nil, "é"}}, "text é", object{"bytes": args{0.0, 255.0}}, object{"map": args{args{"k", 1.0}}}, "", 1.0, "two", object{"bytes": args{}},
	}
	if diff := cmp.Diff(want, bodies); diff != "" {
		t.Error(diff)
	}
}

// TestStoredWithoutJSON: a message of type json without JSON, which earlier releases stored, is
// delivered as text and does not block those behind it.
func TestStoredWithoutJSON(t *testing.T) {
	t.Parallel()
	v := bindingtest.OpenVolumes(t, t.TempDir())
	w := &world{t: t, set: openSet(t, v, quick("q"))}
	w.worker = bindingtest.Start(t, w.set, script)
	w.send("q", "send", "no JSON", object{"contentType": "text"})
	db, err := v.Database(t.Context(), volume.SharedDatabase)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Write(t.Context(), func(c *raw.Conn) error { return c.Exec(`UPDATE queue_message SET type = 'json'`) }); err != nil {
		t.Fatal(err)
	}
	w.send("q", "send", 2)
	w.start()
	var bodies []any
	for _, b := range w.seen(2) {
		for _, m := range b.Messages {
			bodies = append(bodies, m.Body)
		}
	}
	if diff := cmp.Diff([]any{"no JSON", 2.0}, bodies); diff != "" {
		t.Error(diff)
	}
}

// TestOutcomes: what the worker does with messages and batches.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	patient, dropping := quick("q"), quick("dropping")
	patient.MaxRetries, patient.DeadLetterQueue, dropping.MaxRetries = new(1), "dead", new(0)
	patient.MaxBatchSize = new(4)
	w := open(t, bindingtest.OpenVolumes(t, t.TempDir()), patient, quick("dead"), dropping)
	do := func(what string, more ...any) object {
		o := object{"do": what}
		for pair := range slices.Chunk(more, 2) {
			o[pair[0].(string)] = pair[1] //nolint:forcetypeassert // written here
		}
		return o
	}
	for _, c := range []struct {
		name  string
		queue string
		sent  args
		want  []string // deliveries: bodies' places and attempts
		dead  int
	}{
		{"retry one", "q", args{do("retry"), do("ack"), do("none")}, []string{"0 1", "1 1", "2 1", "0 2"}, 0},
		{"throw", "q", args{do("throw"), do("ack"), do("none")}, []string{"0 1", "1 1", "2 1", "0 2", "2 2"}, 0},
		{"retryAll", "q", args{do("retryAll"), do("ack"), do("none")}, []string{"0 1", "1 1", "2 1", "0 2", "2 2"}, 0},
		{"ackAll and throw", "q", args{do("ackAll"), do("retry"), do("none")}, []string{"0 1", "1 1", "2 1", "1 2"}, 0},
		{"die", "q", args{do("retry", "times", 9, "in", "q"), do("none")}, []string{"0 1", "1 1", "0 2"}, 1},
		{"drop", "dropping", args{do("throw"), do("none")}, []string{"0 1", "1 1"}, 0},
	} {
		before := len(flat(w.seen(0)))
		w.send(c.queue, "sendBatch", numbered(c.sent))
		all := flat(w.seen(before + len(c.want) + c.dead))[before:]
		var got []string
		dead := 0
		for _, m := range all {
			if m.queue == "dead" {
				dead++
				continue
			}
			got = append(got, m.String())
		}
		if !slices.Equal(got, c.want) || dead != c.dead {
			t.Errorf("%s: %q and %d dead, want %q and %d", c.name, got, dead, c.want, c.dead)
		}
		for _, queue := range []string{"q", "dead", "dropping"} {
			svctest.Eventually(t, c.name+": the end of "+queue, func() bool { return strings.Contains(w.call(queue, "metrics"), `"backlogCount":0,"backlogBytes":0}`) })
		}
	}
	svctest.Eventually(t, "no wake with nothing to do", func() bool {
		wake := w.set.Wake()
		return wake.Pending == 0 && wake.At.IsZero()
	})
}

// TestBatches: a full batch goes without waiting, a message waits for others no longer than the
// timeout, and no more batches run at the same time than may.
func TestBatches(t *testing.T) {
	t.Parallel()
	w := open(t, bindingtest.OpenVolumes(t, t.TempDir()),
		bundle.QueueConsumer{Queue: "full", MaxBatchSize: new(3), MaxBatchTimeout: new(60), MaxConcurrency: new(1)},
		bundle.QueueConsumer{Queue: "slow", MaxBatchSize: new(100), MaxBatchTimeout: new(4)},
		bundle.QueueConsumer{Queue: "two", MaxBatchSize: new(1), MaxBatchTimeout: new(0), MaxConcurrency: new(2)})
	w.send("full", "sendBatch", batch(0, 1, 2, 3, 4, 5, 6))
	w.send("slow", "send", "a")
	w.send("slow", "sendBatch", batch("b", "c"))
	w.send("two", "sendBatch", batch(object{"do": "pair"}, object{"do": "pair"}, "x", "y"))
	list := w.seen(13)
	if got, want := order(list, "full"), []string{"0 1", "1 1", "2 1", "3 1", "4 1", "5 1"}; !slices.Equal(got, want) {
		t.Errorf("full: %q", got)
	}
	for _, b := range list {
		if b.Queue == "full" && len(b.Messages) != 3 || b.Queue == "two" && len(b.Messages) != 1 {
			t.Errorf("%s: a batch of %d", b.Queue, len(b.Messages))
		}
		if b.Queue == "slow" && (len(b.Messages) != 3 || b.Messages[0].After < 4000-clocks) {
			t.Errorf("slow: %+v", b)
		}
	}
	if most := w.post(args{"most", "two"}); most != "2" {
		t.Errorf("%s batches at the same time", most)
	}
	svctest.Eventually(t, "one message that waits for a batch", func() bool {
		wake := w.set.Wake()
		return wake.Pending == 0 && time.Until(wake.At) > 0 && wake.Waiting.Messages == 1
	})
}

// TestWakeAfterStop: the end of the last delivery leaves no wake, messages that were not
// delivered do.
func TestWakeAfterStop(t *testing.T) {
	t.Parallel()
	one := bundle.QueueConsumer{Queue: "q", MaxBatchSize: new(1), MaxBatchTimeout: new(0), MaxConcurrency: new(1)}
	for left := range 2 {
		w := open(t, bindingtest.OpenVolumes(t, t.TempDir()), one)
		w.send("q", "sendBatch", batch(object{"do": "wait", "ms": 200 + left*4000})) // a busy machine needs time for another
		w.post(args{"running", "q"})
		if left > 0 {
			w.send("q", "send", "another")
		}
		w.set.Stop(t.Context())
		if wake := w.set.Wake(); wake.Pending != left || wake.At.IsZero() != (left == 0) || wake.Waiting.Messages != left {
			t.Errorf("with %d messages left: %+v", left, wake)
		}
	}
}

// TestDelays: of a message, of a batch, of a retry and of the queue.
func TestDelays(t *testing.T) {
	t.Parallel()
	c := quick("q")
	c.RetryDelay = new(1)
	w := open(t, bindingtest.OpenVolumes(t, t.TempDir()), c)
	w.send("q", "send", "message", object{"delaySeconds": 1})
	w.send("q", "sendBatch", args{object{"body": "batch"}, object{"body": "own", "delaySeconds": 0}}, object{"delaySeconds": 1})
	w.send("q", "sendBatch", batch(object{"do": "retry"}, object{"do": "retry", "options": object{"delaySeconds": 0}}))
	at, after := map[string]int{}, map[string]int{}
	for i, m := range flat(w.seen(7)) {
		at[m.String()], after[m.String()] = i, m.After
	}
	const retried, sooner = "map[do:retry] 2", "map[do:retry options:map[delaySeconds:0]] 2"
	for _, late := range []string{"message 1", "batch 1", retried} {
		if after[late] < 1000-clocks {
			t.Errorf("%s arrived after %d ms", late, after[late])
		}
	}
	if at["own 1"] > at["batch 1"] || at[sooner] > at[retried] {
		t.Errorf("a delay of 0 does not take precedence: %v", at)
	}
}

// clocks is how many milliseconds the clock of a worker may be behind.
const clocks = 50

// TestCutOff: messages that were with a worker whose process died are delivered again,
// also by the next process.
//
//nolint:tparallel // the lives follow each other
func TestCutOff(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	t.Run("first", func(t *testing.T) { // the first life ends before the second begins
		w := open(t, bindingtest.OpenVolumes(t, dir), quick("q"))
		w.send("q", "sendBatch", batch(object{"do": "wait", "ms": 600_000}, "other"))
		w.post(args{"running", "q"})
		w.worker.Kill()
		w.set.Stop(t.Context())
	})
	t.Run("second", func(t *testing.T) {
		set := openSet(t, bindingtest.OpenVolumes(t, dir), quick("q"))
		if w := set.Wake(); w.Pending != 2 {
			t.Errorf("%+v", w)
		}
		w := &world{t: t, set: set, worker: bindingtest.Start(t, set, strings.Replace(script, `case "wait"`, `case "no wait"`, 1))}
		w.start()
		if got := order(w.seen(2), "q"); !slices.Equal(got, []string{"map[do:wait ms:600000] 2", "other 2"}) {
			t.Errorf("%q", got)
		}
	})
}
