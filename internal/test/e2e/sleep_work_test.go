//go:build e2e

package e2e

import (
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

// ownWorkScript says which work of its own it did.
const ownWorkScript = `import { WorkflowEntrypoint } from "cloudflare:workers";
export class Later extends WorkflowEntrypoint {
  async run(event, step) {
    await step.sleep("wait", "6 seconds");
    await step.do("work", async () => console.log("workflow ran"));
  }
}
export default {
  async fetch(request, env) {
    await env.LATER.create();
    return new Response("begun");
  },
  scheduled() { console.log("cron ran"); },
}`

// TestSleepOwnWork: a version that sleeps starts for the sleep of a workflow that ends and,
// where production sleeps too, for its cron. Nothing asks for the versions meanwhile, and
// then they sleep again.
func TestSleepOwnWork(t *testing.T) {
	t.Parallel()
	d := started(t, "SVC_SLEEP_IDLE=1", "SVC_SLEEP_PRODUCTION=1")
	dir := worker(t, `{ "name": "jobs", "main": "index.js", "compatibility_date": "2026-11-01", "triggers": { "crons": ["* * * * *"] },
		"workflows": [{ "name": "later", "binding": "LATER", "class_name": "Later" }] }`, map[string]string{"index.js": ownWorkScript})
	v1 := d.deploy(dir, "--version", "v1")
	v2 := d.deploy(dir, "--version", "v2")

	begun := 0
	for waits := false; !waits; begun++ { // a slow machine runs the step before v2 sleeps
		if a := d.served(v2.PreviewURL); a.Body != "begun" {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		d.sleeps(v2)
		waits = d.runtime(v2).WakeAt != nil
	}
	svctest.Eventually(t, "the workflow to continue", func() bool { return d.count(v2, "workflow ran") >= begun })
	svctest.Eventually(t, "v2 to sleep without more work", func() bool { // a slow machine stops it before the work is recorded as done
		now := d.runtime(v2)
		return now.State == api.RuntimeStateAsleep && now.WakeAt == nil
	})

	d.sleeps(v1)
	if now := d.runtime(v1); now.WakeAt == nil {
		t.Error("production has a cron, and sleeps for ever")
	}
	ran := d.count(v1, "cron ran")
	svctest.Eventually(t, "the cron to run", func() bool { return d.count(v1, "cron ran") > ran })
	d.sleeps(v1)
	if !strings.Contains(d.log.String(), "version started from sleep") {
		t.Error("no version slept before its work")
	}
}

// sleeps waits until a version has no processes.
func (d *daemon) sleeps(v api.Version) {
	d.t.Helper()
	svctest.Eventually(d.t, v.ID+" to sleep", func() bool { return d.runtime(v).State == api.RuntimeStateAsleep })
}
