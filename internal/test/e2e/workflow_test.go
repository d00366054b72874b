//go:build e2e

package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

const expenses = "../../../examples/approval"

// expense is an instance of the workflow of a version of the example.
func (d *daemon) expense(version, id string) api.WorkflowInstanceDetail {
	d.t.Helper()
	i, err := d.client().WorkflowInstance(d.t.Context(), client.Workflow{Project: "approval", Version: version, Name: "expenses"}, id)
	if err != nil {
		d.t.Fatal(err)
	}
	return i
}

// until waits for the state of an instance. A version may be starting meanwhile.
func (d *daemon) until(version, id, status string) {
	d.t.Helper()
	svctest.Eventually(d.t, id+" to be "+status, func() bool {
		i, err := d.client().WorkflowInstance(d.t.Context(), client.Workflow{Project: "approval", Version: version, Name: "expenses"}, id)
		return err == nil && i.Status == status
	})
}

// TestWorkflow: an instance waits, over SIGKILL of its host and of the daemon and over an
// archive, and continues without repeating a step. A child begins with none.
// spec: [C2.15].
func TestWorkflow(t *testing.T) {
	t.Parallel()
	d := started(t)
	v1 := d.deploy(expenses, "--version", "v1")
	if a := d.do(http.MethodPost, v1.PreviewURL+"/expenses", "application/json", `{"who":"ann","amount":20}`); a.Status != http.StatusCreated {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	d.ok(expenses, "workflows", "trigger", "approval/v1", "expenses", "--id", "bob", "--params", `{"who":"bob","amount":1}`)
	d.until("v1", "bob", "waiting")
	d.killRuntime(v1)
	d.kill()
	if !d.start() {
		t.Fatal("the daemon ended")
	}
	d.until("v1", "bob", "waiting")
	v2 := d.deploy(expenses, "--version", "v2", "--parent", "v1")
	if out := d.ok(expenses, "workflows", "instances", "approval/v2", "expenses", "-o", "json"); strings.TrimSpace(out) != "[]" {
		t.Errorf("the child begins with %s", out)
	}
	d.ok(expenses, "versions", "archive", "approval/v2")
	d.ok(expenses, "versions", "wake", "approval/v2")
	if a := d.get(v2.PreviewURL + "/expenses/bob"); a.Status != http.StatusNotFound {
		t.Errorf("the child knows bob: %d %s", a.Status, a.Body)
	}
	d.ok(expenses, "promote", "approval/v2", "--leave-writes")
	archived, err := d.client().Archive(t.Context(), "approval", "v1")
	if err != nil || archived.Waiting == nil || archived.Waiting.Instances < 1 {
		t.Errorf("archived with %v, %v", archived.Waiting, err)
	}
	d.ok(expenses, "versions", "wake", "approval/v1")
	d.until("v1", "bob", "waiting")
	d.do(http.MethodPost, v1.PreviewURL+"/expenses/bob/decision", "application/json", `{"approved":true}`)
	d.until("v1", "bob", "complete")
	i := d.expense("v1", "bob")
	if got := string(i.Output); got != `{"paid":true,"receipt":"1 to bob, attempt 2"}` {
		t.Errorf("the output is %s", got)
	}
	for n, want := range []int64{1, 0, 2, 1} { // attempts
		if s := i.Steps[n]; s.Attempts != want || s.State != "done" {
			t.Errorf("step %s: %d attempts, %s", s.Name, s.Attempts, s.State)
		}
	}
	if out := d.ok(expenses, "workflows", "describe", "approval/v1", "expenses", "bob"); !strings.Contains(out, "bob is complete") || !strings.Contains(out, "pay") {
		t.Errorf("%s", out)
	}
}

// slowStep has a step that ends only at its second attempt, and counts what runs.
const slowStep = `import { WorkflowEntrypoint } from "cloudflare:workers";
export class Slow extends WorkflowEntrypoint {
  async run(event, step) {
    await step.do("before", async () => { console.log("before runs"); });
    return step.do("slow", { retries: { limit: 3, delay: 1 } }, async ({ attempt }) => {
      console.log("attempt", attempt);
      if (attempt === 1) await scheduler.wait(600_000);
      return attempt;
    });
  }
}
export default { fetch: (request, env) => new Response(env.VERSION_ID) };`

// TestWorkflowStepKilled: SIGKILL of the daemon, and with it of the worker host and workerd, in the middle
// of a step: the finished step does not run again, the interrupted one has failed once.
func TestWorkflowStepKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"index.js":       slowStep,
		"wrangler.jsonc": `{"name":"approval","main":"index.js","compatibility_date":"2026-11-01","workflows":[{"binding":"W","name":"expenses","class_name":"Slow"}]}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d := started(t)
	v := d.deploy(dir, "--version", "v1")
	d.ok(dir, "workflows", "trigger", "approval/v1", "expenses", "--id", "i")
	svctest.Eventually(t, "the slow step", func() bool {
		i := d.expense("v1", "i")
		return len(i.Steps) == 2 && i.Steps[1].State == "running"
	})
	d.kill()
	if !d.start() {
		t.Fatal("the daemon ended")
	}
	d.until("v1", "i", "complete")
	i := d.expense("v1", "i")
	if s := i.Steps[1]; s.Attempts != 2 || len(s.Failures) != 1 || string(i.Output) != "2" || i.Steps[0].Attempts != 1 {
		t.Errorf("%+v", i)
	}
	if n := d.count(v, "before runs"); n > 1 {
		t.Errorf("the first step ran %d times", n)
	}
}
