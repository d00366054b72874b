package workflow_test

import (
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/test/svctest"
)

// counting is a worker whose steps say that they run. GET /<path> acts on the instance "i".
const counting = `
import { WorkflowEntrypoint } from "cloudflare:workers";
let ran = [];
export class Flow extends WorkflowEntrypoint {
  async run(event, step) {
    const a = await step.do("one", async () => { ran.push("one"); return 1; });
    const b = await step.do("two", async ({ attempt }) => {
      ran.push("two " + attempt);
      if (attempt === 1) await new Promise((r) => setTimeout(r, 600_000));
      return a + attempt;
    });
    const c = await step.waitForEvent("three", { type: "go" });
    return step.do("four", async () => [a, b, c.payload]);
  }
}
const calls = {
  create: (B) => B.create({ id: "i" }), go: async (B) => (await B.get("i")).sendEvent({ type: "go", payload: "went" }),
  ran: () => ran.join(), status: async (B) => JSON.stringify(await (await B.get("i")).status()),
};
export default { async fetch(request, env) { return new Response(await calls[new URL(request.url).pathname.slice(1)](env.B)); } };`

// TestResume kills workerd and its host in the middle of a step: the finished step does not
// run again, the interrupted one does, as another attempt, and so it does after the wait.
// spec: [C1.11].
func TestResume(t *testing.T) { //nolint:tparallel // its parts are one life after the other
	t.Parallel()
	dir := t.TempDir()
	t.Run("killed", func(t *testing.T) { // the first life ends before the second begins
		w := start(t, dir, counting)
		w.Post(t, "/create", "")
		svctest.Eventually(t, "the second step", func() bool {
			return w.text(t, `SELECT state || attempts FROM step WHERE name = 'two'`) == "running1"
		})
		if got := w.Post(t, "/ran", ""); got != "one,two 1" {
			t.Errorf("ran %q", got)
		}
		w.Kill()
	})
	t.Run("resumed", func(t *testing.T) {
		w := start(t, dir, counting)
		svctest.Eventually(t, "the wait", func() bool { return strings.Contains(w.Post(t, "/status", ""), "waiting") })
		if got := w.Post(t, "/ran", ""); got != "two 2" {
			t.Errorf("ran %q", got)
		}
	})
	t.Run("event", func(t *testing.T) {
		w := start(t, dir, counting)
		w.Post(t, "/go", "")
		svctest.Eventually(t, "the end", func() bool { return strings.Contains(w.Post(t, "/status", ""), "complete") })
		if got, ran := w.Post(t, "/status", ""), w.Post(t, "/ran", ""); ran != "" || got != `{"status":"complete","output":[1,3,"went"]}` {
			t.Errorf("%s, ran %q", got, ran)
		}
	})
}
