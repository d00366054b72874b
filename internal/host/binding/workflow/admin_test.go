package workflow_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

const adminWorker = `
import { WorkflowEntrypoint } from "cloudflare:workers";
export class Flow extends WorkflowEntrypoint {
  async run(event, step) {
    await step.do("flaky", { retries: { limit: 1, delay: 1 } }, async ({ attempt }) => {
      if (attempt === 1) throw new TypeError("once");
      return { when: new Date(0), bytes: new Uint8Array([1]), $: event.payload.$ };
    });
    await step.do("hidden", { sensitive: "output" }, async () => "secret");
    const e = await step.waitForEvent("approval", { type: "ok", timeout: "1 hour" });
    return e.payload;
  }
}
export default { async fetch(request, env) { await (await env.B.get("i")).sendEvent({ type: "ok", payload: "yes" }); return new Response(); } };`

// admin calls the API of the version's data and gives status and body, or the code of the error.
func (v *version) admin(t *testing.T, method, path, body string) string {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	w := httptest.NewRecorder()
	v.set.Data(func(w http.ResponseWriter, _ *http.Request, err error) {
		w.WriteHeader(http.StatusTeapot)
		_, _ = w.Write([]byte(svc.CodeOf(err)))
	}).ServeHTTP(w, r)
	return w.Body.String()
}

// spec: [C14.17], [C14.18].
func TestAdmin(t *testing.T) {
	t.Parallel()
	v := start(t, t.TempDir(), adminWorker)
	const instances = "/workflows/flow/instances"
	v.admin(t, "POST", instances, `{"id":"i","params":{"$":"dollar"}}`)
	var got struct {
		ID, Status, Current string
		Next                string `json:"next_run_at"`
		Output, Params      json.RawMessage
		Steps               []struct {
			Name, Type, State, Event string
			Attempts                 int
			Failures                 []struct {
				Error struct{ Name, Message string }
			}
			Output json.RawMessage
		}
	}
	describe := func() string {
		text := v.admin(t, "GET", instances+"/i", "")
		if err := json.Unmarshal([]byte(text), &got); err != nil { //nolint:musttag // fields match without regard to case
			t.Fatal(text, err)
		}
		return text
	}
	svctest.Eventually(t, "the wait", func() bool { describe(); return got.Status == "waiting" })
	text := describe()
	if string(got.Params) != `{"$":"dollar"}` || got.Next == "" || len(got.Steps) != 3 {
		t.Fatal(text)
	}
	if s := got.Steps[0]; s.Attempts != 2 || len(s.Failures) != 1 || s.Failures[0].Error.Name != "TypeError" ||
		string(s.Output) != `{"$":"dollar","bytes":{"$base64":"AQ=="},"when":"1970-01-01T00:00:00.000Z"}` {
		t.Errorf("%s", text)
	}
	if string(got.Steps[1].Output) != `"[REDACTED]"` || got.Steps[2].Event != "ok" || got.Steps[2].State != "waiting" {
		t.Errorf("%s", text)
	}
	v.Post(t, "/", "")
	svctest.Eventually(t, "the end", func() bool { describe(); return got.Status == "complete" })
	if string(got.Output) != `"yes"` {
		t.Errorf("%s", describe())
	}
	for call, want := range map[string]string{
		"GET /workflows/none/instances":         "workflow_not_found",
		"GET " + instances + "/none":            "instance_not_found",
		"GET " + instances + "?status=odd":      "invalid_parameter",
		"GET " + instances + "?limit=0":         "invalid_limit",
		"POST " + instances + "/i/terminate":    "instance_state",
		"POST " + instances + "/i/resume":       "instance_state",
		"POST " + instances + ` {"id":"i"}`:     "instance_exists",
		"POST " + instances + ` {"id":"a b"}`:   "invalid_parameter",
		"POST " + instances + ` {"params":tru}`: "invalid_parameter",
	} {
		method, rest, _ := strings.Cut(call, " ")
		path, body, _ := strings.Cut(rest, " ")
		if got := v.admin(t, method, path, body); got != want {
			t.Errorf("%s: %s, want %s", call, got, want)
		}
	}
	if got, want := v.admin(t, "GET", "/workflows", ""), `{"items":[{"name":"flow","class_name":"Flow","binding":"B","counts":{"complete":1,"errored":0,"paused":0,"queued":0,"running":0,"terminated":0,"waiting":0,"waitingForPause":0}}]}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestPages lists instances in pages, by status.
func TestPages(t *testing.T) {
	t.Parallel()
	v := start(t, t.TempDir(), adminWorker)
	const instances = "/workflows/flow/instances"
	for _, id := range []string{"a", "b", "c"} {
		v.admin(t, "POST", instances, `{"id":"`+id+`"}`)
	}
	v.admin(t, "POST", instances+"/b/terminate", "")
	list := func(query string) (ids, next string) {
		var page struct {
			Items []struct{ ID string }
			Next  string `json:"next_cursor"`
		}
		if err := json.Unmarshal([]byte(v.admin(t, "GET", instances+query, "")), &page); err != nil { //nolint:musttag // fields match without regard to case
			t.Fatal(err)
		}
		for _, i := range page.Items {
			ids += i.ID
		}
		return ids, page.Next
	}
	first, next := list("?limit=2")
	second, end := list("?limit=2&cursor=" + next)
	only, _ := list("?status=terminated")
	if first != "cb" || second != "a" || end != "" || only != "b" {
		t.Errorf("%q, %q, %q, %q", first, second, end, only)
	}
}
