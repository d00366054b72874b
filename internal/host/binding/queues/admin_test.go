package queues_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// api makes a request for the data of the version. An error is its code.
func (w *world) api(method, path, body string) string {
	w.t.Helper()
	rec := httptest.NewRecorder()
	data := w.set.Data(func(rw http.ResponseWriter, _ *http.Request, err error) { _, _ = fmt.Fprint(rw, svc.CodeOf(err)) })
	data.ServeHTTP(rec, httptest.NewRequestWithContext(w.t.Context(), method, path, strings.NewReader(body)))
	return rec.Body.String()
}

// want checks how the answer to a request begins.
func (w *world) want(method, path, body, want string) {
	w.t.Helper()
	if got := w.api(method, path, body); !strings.HasPrefix(got, want) {
		w.t.Errorf("%s %s: %s, want %s", method, path, got, want)
	}
}

// peeked lists bodies, states, attempts and origins.
func (w *world) peeked(path string) (out []string) {
	w.t.Helper()
	var list struct {
		Items []struct {
			State    string          `json:"state"`
			Attempts int             `json:"attempts"`
			DeadFrom *string         `json:"dead_from"`
			Body     json.RawMessage `json:"body"`
		} `json:"items"`
	}
	if text := w.api("GET", path, ""); json.Unmarshal([]byte(text), &list) != nil {
		w.t.Fatal(text)
	}
	for _, m := range list.Items {
		line := fmt.Sprintf("%s %s %d", m.Body, m.State, m.Attempts)
		if m.DeadFrom != nil {
			line += " from " + *m.DeadFrom
		}
		out = append(out, line)
	}
	return out
}

// spec: [C14.10] [C14.11] [C14.12] [C14.13] [C14.14] [C14.16]
func TestAdmin(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	one, dead := quick("one"), quick("dead")
	one.DeadLetterQueue = "dead"
	w := &world{t: t, set: openSet(t, bindingtest.OpenVolumes(t, dir), one, dead, bundle.QueueConsumer{Queue: "last"})}
	w.want("GET", "/queues/no", "", "queue_not_found")
	w.want("POST", "/queues/one/messages", `{"body": {"a": 1}}`, `{"id":"`)
	w.want("POST", "/queues/one/messages", `{"body": "é", "content_type": "text"}`, `{"id":"`)
	w.want("POST", "/queues/one/messages", `{"body": {"$base64": "AP8="}, "content_type": "bytes", "delay_seconds": 3600}`, `{"id":"`)
	for body, code := range map[string]string{
		`{}`: "invalid_parameter", `{"body": 1, "content_type": "text"}`: "invalid_parameter", `{"body": 1, "content_type": "bytes"}`: "invalid_parameter",
		`{"body": 1, "content_type": "xml"}`: "invalid_parameter", `{"body": 1, "delay_seconds": -1}`: "invalid_parameter", `{`: "invalid_json",
		`{"body": "` + strings.Repeat("x", 128_000) + `"}`: "value_too_large",
	} {
		w.want("POST", "/queues/one/messages", body, code)
	}
	ready, late := []string{`{"a":1} ready 0`, `"é" ready 0`}, []string{`{"$base64":"AP8="} delayed 0`}
	for path, want := range map[string][]string{
		"": append(ready, late...), "?state=ready": ready, "?state=delayed": late, "?state=inflight": nil, "?limit=1": ready[:1], "?limit=1000": append(ready, late...),
	} {
		if diff := cmp.Diff(want, w.peeked("/queues/one/messages"+path)); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
	w.want("GET", "/queues/one/messages?limit=0", "", "invalid_limit")
	w.want("GET", "/queues/one/messages?state=dead", "", "invalid_parameter")
	w.want("GET", "/queues", "", `{"items":[{"name":"one","paused":false,"ready":2,"delayed":1,"inflight":0,"size_bytes":11,"oldest_at":"2`)
	w.want("POST", "/queues/one/pause", "", `{"name":"one","paused":true,`)
	w.want("GET", "/queues/dead", "", `{"name":"dead","paused":false,"ready":0,"delayed":0,"inflight":0,"size_bytes":0,"oldest_at":null,"dead_letter_queue":null,"producers":["dead"],`+
		`"consumer":{"max_batch_size":10,"max_batch_timeout":0,"max_retries":3,"retry_delay":0,"max_concurrency":1,"deliveries":{},"acknowledged":0,"retried":0,"dead":0,"dropped":0}}`)
	if got := w.api("GET", "/bindings", ""); strings.Count(got, `"kind":"queue_producer"`) != 3 || strings.Count(got, `"kind":"queue_consumer"`) != 3 ||
		!strings.Contains(got, `{"name":"one","kind":"queue_consumer","resource":"one","branched":false,"parent_version_id":null,"fork_txid":"","stats":{"messages":3,"size_bytes":11}}`) {
		t.Error(got)
	}
	w.worker = bindingtest.Start(t, w.set, script)
	w.start()
	w.want("POST", "/queues/one/resume", "", `{"name":"one","paused":false,`)
	if got := order(w.seen(2), "one"); len(got) != 2 {
		t.Errorf("after the pause: %q", got)
	}
	svctest.Eventually(t, "the end of the delivery", func() bool {
		return strings.Contains(w.api("GET", "/queues/one", ""), `"ready":0,"delayed":1,"inflight":0`)
	})
	w.want("POST", "/queues/one/purge", "", `{"purged":1}`)
	w.want("GET", "/queues/one/messages", "", `{"items":[]}`)
}

// spec: [C14.12] [C14.15]
func TestRedrive(t *testing.T) {
	t.Parallel()
	one := quick("one")
	one.MaxRetries, one.DeadLetterQueue = new(0), "dead"
	w := open(t, bindingtest.OpenVolumes(t, t.TempDir()), one, quick("two"))
	w.send("one", "sendBatch", batch(object{"do": "retry", "n": 1}, object{"do": "retry", "n": 2}, object{"do": "retry", "n": 3}, object{"do": "wait", "ms": 600_000}))
	w.post(args{"running", "one"})
	if got := w.peeked("/queues/one/messages?state=inflight"); len(got) != 4 || !strings.HasSuffix(got[0], " inflight 0") {
		t.Errorf("%q", got)
	}
	w.want("GET", "/queues/one", "", `{"name":"one","paused":false,"ready":0,"delayed":0,"inflight":4,`)
	w.want("POST", "/queues/one/pause", "", `{"name":"one"`)
	w.worker.Kill() // the batch has no outcome, and its messages no attempt that makes them dead
	w.set.Stop(t.Context())
	if got := w.peeked("/queues/one/messages"); len(got) != 4 || !strings.HasSuffix(got[0], " ready 1") {
		t.Errorf("after the end of the process: %q", got)
	}
	w.want("POST", "/queues/two/redrive", "", "no_dead_letter_queue")
	w.want("POST", "/queues/one/redrive", `{"from":"no"}`, "queue_not_found")
	w.want("POST", "/queues/one/redrive", `{`, "invalid_json")
	w.want("POST", "/queues/one/redrive", "", `{"moved":0}`)
}

// Dead messages say where they come from, and return with all their deliveries.
func TestRedriveMoves(t *testing.T) {
	t.Parallel()
	one := quick("one")
	one.MaxRetries, one.DeadLetterQueue = new(0), "dead"
	w := open(t, bindingtest.OpenVolumes(t, t.TempDir()), one)
	w.send("one", "sendBatch", batch(object{"do": "retry"}, object{"do": "retry"}, object{"do": "retry"}))
	svctest.Eventually(t, "the death of the messages", func() bool { return strings.Contains(w.api("GET", "/queues/dead", ""), `"ready":3,`) })
	const dead = `{"do":"retry"} ready 0 from one`
	if diff := cmp.Diff([]string{dead, dead, dead}, w.peeked("/queues/dead/messages")); diff != "" {
		t.Error(diff)
	}
	svctest.Eventually(t, "the status of both queues", func() bool {
		s := w.set.Wake().Queues
		return len(s) == 2 && s[0].Name == "one" && s[0].Backlog == 0 && s[0].Deliveries[svc.OutcomeOK] == 1 &&
			s[1].Name == "dead" && s[1].Backlog == 3 && s[1].Oldest != 0
	})
	w.want("POST", "/queues/one/pause", "", `{"name":"one"`)
	w.want("POST", "/queues/one/redrive", `{"limit":1}`, `{"moved":1}`)
	if diff := cmp.Diff([]string{`{"do":"retry"} ready 0`}, w.peeked("/queues/one/messages")); diff != "" {
		t.Error(diff)
	}
	w.want("POST", "/queues/one/redrive", "", `{"moved":2}`)
	w.want("GET", "/queues/dead", "", `{"name":"dead","paused":false,"ready":0,"delayed":0,"inflight":0,"size_bytes":0,"oldest_at":null,"dead_letter_queue":null,"producers":[],"consumer":null}`)
	w.want("POST", "/queues/one/purge", "", `{"purged":3}`)
}
