//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// cronScript waits in its first run, so that it can be killed.
const cronScript = `export default {
  fetch: () => new Response("hello"),
  async scheduled(controller, env) {
    const n = Number((await env.KV.get("n")) ?? "0") + 1;
    await env.KV.put("n", String(n));
    console.log("run", n);
    if (n === 1) await scheduler.wait(600_000);
  },
}`

// cronProject is a project file whose crons are due in each of the next minutes. They are
// not due again today, so a run that is cut off is repeated, however long the restart takes.
func cronProject(t *testing.T) string {
	t.Helper()
	var crons []string
	for i := range 15 {
		crons = append(crons, time.Now().UTC().Add(time.Duration(i+1)*time.Minute).Format("4 15 2 1 *"))
	}
	text, err := json.Marshal(map[string]any{
		"name": "hello", "main": "index.js", "compatibility_date": "2026-11-01",
		"kv_namespaces": []any{map[string]string{"binding": "KV"}}, "triggers": map[string]any{"crons": crons},
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestCron: a version that is armed runs its crons; a run whose process is killed is repeated
// once. Then it follows the arming of versions through the life of a project.
// spec: [C1.10] [C2.16] [C10.1] [C10.2] [C10.3] [C10.4]
func TestCron(t *testing.T) {
	t.Parallel()
	d := started(t)
	dir := worker(t, cronProject(t), map[string]string{"index.js": cronScript})
	v1 := d.deploy(dir, "--version", "v1")
	d.armed("the first production", "v1")
	svctest.Eventually(t, "a run", func() bool { return d.count(v1, "run 1") == 1 })
	if err := syscall.Kill(d.pidOf(workerd+" serve"), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	svctest.Eventually(t, "the retry", func() bool { return slices.ContainsFunc(d.cronRuns("v1"), isRetry) })
	first := d.cronRuns("v1")
	slices.Reverse(first)
	if cut, again := first[0], first[slices.IndexFunc(first, isRetry)]; cut.Outcome != "exited" && cut.Outcome != "interrupted" ||
		again.Cron != cut.Cron || !again.ScheduledTime.Equal(cut.ScheduledTime.Time) {
		t.Errorf("the runs are %+v", first)
	}

	d.deploy(dir, "--version", "v2", "--parent", "v1")
	d.armed("with a second version", "v1")
	if runs := d.cronRuns("v2"); len(runs) > 0 {
		t.Errorf("the child has the runs %+v", runs)
	}
	d.ok(d.home, "promote", "hello/v2", "--leave-writes")
	d.armed("after a promote", "v2")
	d.ok(d.home, "versions", "archive", "hello/v1")
	d.ok(d.home, "versions", "wake", "hello/v1")
	d.armed("after a wake", "v2")
	if len(d.cronRuns("v1")) < len(first) {
		t.Error("archiving lost runs")
	}
	d.ok(d.home, "rollback", "-p", "hello")
	d.armed("after a rollback", "v1")
	d.kill()
	d.start()
	d.armed("after a restart", "v1")
	of := slices.DeleteFunc(d.cronRuns("v1"), func(r api.CronRun) bool { return r.Cron != first[0].Cron })
	if len(of) != 2 {
		t.Errorf("the run that was cut off has the runs %+v", of)
	}
}

func isRetry(r api.CronRun) bool { return r.Retry && r.Outcome == "ok" }

// armed waits until one version of hello runs its crons, and the other one does not.
func (d *daemon) armed(when, version string) {
	d.t.Helper()
	svctest.Succeeds(d.t, when, func() error {
		for _, id := range []string{"v1", "v2"} {
			list, err := d.client().Crons(d.t.Context(), "hello", id)
			if client.CodeOf(err) == "version_not_found" {
				continue
			}
			if err != nil || list.Armed != (id == version) {
				return fmt.Errorf("%s: armed %t, %w", id, list.Armed, err)
			}
		}
		return nil
	})
}

func (d *daemon) cronRuns(version string) []api.CronRun {
	d.t.Helper()
	var runs api.CronRunPage
	svctest.Succeeds(d.t, "the runs of "+version, func() (err error) {
		runs, err = d.client().CronRuns(d.t.Context(), "hello", version, client.Page{Limit: 100})
		return err
	})
	return runs.Items
}
