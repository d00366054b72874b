//go:build e2e && torture

package e2e

import (
	"flag"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

var (
	promoteCount = flag.Int("promote.count", 50, "promotes of TestPromoteUnderLoad")
	promoteRate  = flag.Int("promote.rate", 2000, "requests per second in TestPromoteUnderLoad")
	awakeCount   = flag.Int("awake.count", 200, "versions of TestRestartAwake")
	instances    = flag.Int("instances.count", 10_000, "instances of TestSleepingInstances, in hundreds")
	pendingCount = flag.Int("pending.count", 10_000, "pending deploys of TestPendingDeploys, at most SVC_QUEUE_MAX")
)

// TestPromoteUnderLoad: no request fails while production changes, and it logs the time
// between the last answer of the old production and the first of the new one.
func TestPromoteUnderLoad(t *testing.T) {
	d := unraced(t)
	dir := worker(t, helloConfig, map[string]string{"index.js": `export default { fetch: () => new Response("v1") }`}) // steadyLoad wants this answer
	prod := d.deploy(dir, "--version", "v1").ProdURL
	d.deploy(dir, "--version", "v2")
	load := d.steady(prod, *promoteRate)
	var windows, held []time.Duration
	for i := range *promoteCount {
		p := d.promoted("hello", []string{"v2", "v1"}[i%2])
		windows, held = append(windows, milliseconds(p.WindowMs)), append(held, milliseconds(p.HeldMs))
		load.answers(*promoteRate / 10)
	}
	load.stop()
	t.Logf("%d requests at %d/s during %d promotes: %d refused, %d failed, longest %s; window %s; held %s; %s", load.sent, *promoteRate, *promoteCount,
		load.refused.Load(), load.failed.Load(), time.Duration(load.longest.Load()), quantiles(windows), quantiles(held), loadAverage())
	if load.refused.Load()+load.failed.Load() > 0 {
		t.Errorf("one of the failures: %v", load.last.Load())
	}
}

// promoted makes a version production.
func (d *daemon) promoted(project, version string) (done api.Promotion) {
	d.t.Helper()
	p, err := d.client().Promote(d.t.Context(), project, version, api.PromoteVersion{})
	if err == nil {
		done, err = d.client().WaitPromotion(d.t.Context(), project, p.OperationID)
	}
	if err != nil {
		d.t.Fatal(err)
	}
	return done
}

func milliseconds(ms *float64) time.Duration {
	if ms == nil {
		return 0
	}
	return time.Duration(*ms * float64(time.Millisecond))
}

// TestRestartAwake: after a kill of the daemon every version serves again, production among
// the first. It logs how long that takes.
func TestRestartAwake(t *testing.T) {
	d := unraced(t)
	urls := d.many(*awakeCount)
	last := fmt.Sprintf("v%d", *awakeCount-1)
	d.promoted("many", last)
	project, err := d.client().Project(t.Context(), "many")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d versions serve; %s", *awakeCount, d.memory())
	d.kill()
	began := time.Now()
	if !d.start() {
		t.Fatalf("the daemon does not start again:\n%s", d.log.String())
	}
	first := time.Since(began)
	d.woken(project.ProdURL)
	production, serving := time.Since(began), d.serving()
	svctest.Eventually(t, "all versions serve", func() bool { return d.serving() == *awakeCount })
	all := time.Since(began)
	d.wakes(urls)
	t.Logf("after a restart the API answered in %s, production in %s (%d versions served then), all of %d served in %s; %s", first, production, serving, *awakeCount, all, loadAverage())
}

// serving is the number of runtimes that serve.
func (d *daemon) serving() (n int) {
	for line := range strings.Lines(d.admin(http.MethodGet, "/metrics", "").body) {
		if strings.HasPrefix(line, "svc_runtime_up{") && strings.HasSuffix(line, " 1\n") {
			n++
		}
	}
	return n
}

// TestPendingDeploys: the queue of deploys takes as many as SVC_QUEUE_MAX says and refuses the
// next. It logs how long a create took.
func TestPendingDeploys(t *testing.T) {
	d := unraced(t, "SVC_QUEUE_MAX="+strconv.Itoa(*pendingCount), "SVC_ARTIFACT_WAIT=1h")
	d.project("many")
	create := func(i int) error {
		_, err := d.client().CreateVersion(t.Context(), "many", api.CreateVersion{ID: "v" + strconv.Itoa(i), Upload: true}, "")
		return err
	}
	var took []time.Duration
	for i := range *pendingCount {
		began := time.Now()
		if err := create(i); err != nil {
			t.Fatalf("deploy %d: %v", i, err)
		}
		took = append(took, time.Since(began))
	}
	if err := create(*pendingCount); client.CodeOf(err) != "queue_full" {
		t.Errorf("the next deploy: %v", err)
	}
	tail := slices.Clone(took[len(took)*9/10:])
	t.Logf("creates: %s; the last tenth: %s; %s", quantiles(took), quantiles(tail), loadAverage())
}

// sleepingScript creates a hundred instances for a request, each of which sleeps after a step.
const sleepingScript = `import { WorkflowEntrypoint } from "cloudflare:workers";
export class Sleeper extends WorkflowEntrypoint {
  async run(event, step) {
    await step.do("first", async () => "done");
    await step.sleep("long", "1 day");
  }
}
export default { async fetch(request, env) {
  if (request.method === "POST") await env.SLEEPERS.createBatch(Array.from({ length: 100 }, () => ({ params: { note: "x" } })));
  return new Response("here");
} }`

// TestSleepingInstances logs what instances of a workflow cost while they sleep: with the
// process that started them, and after a restart.
func TestSleepingInstances(t *testing.T) {
	d := unraced(t)
	v := d.deploy(worker(t, `{ "name": "sleepy", "main": "index.js", "compatibility_date": "2026-11-01",
		"workflows": [{ "binding": "SLEEPERS", "name": "sleepers", "class_name": "Sleeper" }] }`, map[string]string{"index.js": sleepingScript}), "--version", "v1")
	d.woken(v.PreviewURL)
	t.Logf("before: %s", d.memory())
	began := time.Now()
	for range *instances / 100 {
		if a := d.do(http.MethodPost, v.PreviewURL, "text/plain", ""); a.Status != http.StatusOK {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
	}
	var counts map[string]int64
	for ; counts["waiting"] < int64(*instances); <-time.After(time.Second) { // minutes, for many
		list, err := d.client().Workflows(t.Context(), "sleepy", "v1")
		if err != nil || time.Since(began) > 10*time.Minute {
			t.Fatalf("after %s: %v, %v", time.Since(began), counts, err)
		}
		counts = list[0].Counts
	}
	t.Logf("%d instances sleep after %s: %s", *instances, time.Since(began).Round(time.Second), d.memory())
	d.kill()
	if !d.start() {
		t.Fatal(d.log.String())
	}
	d.woken(v.PreviewURL)
	t.Logf("after a restart: %s", d.memory())
}

// unraced starts a daemon without the race detector, as a user does.
func unraced(t *testing.T, env ...string) *daemon {
	d := newDaemon(t, env...)
	d.bin = breakable
	if !d.start() {
		t.Fatal(d.log.String())
	}
	return d
}
