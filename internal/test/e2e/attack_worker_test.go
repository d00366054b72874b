//go:build e2e

package e2e

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

// greedyWorkers are workers that take what they can get when they are asked for /attack.
var greedyWorkers = map[string]string{
	"memory": `const kept = []; async function attack() {
		for (;;) { for (let i = 0; i < 8; i++) kept.push(new Uint8Array(1 << 20).fill(1)); await scheduler.wait(1) } }`,
	"loop": `async function attack() { for (;;); }`,
	"sql": `async function attack(env) {
		await env.DB.exec("CREATE TABLE IF NOT EXISTS t(x)")
		await env.DB.prepare("WITH n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) INSERT INTO t SELECT randomblob(100000) FROM n").run() }`,
	// It answers pings: ended after ten seconds, it could have printed less than is logged.
	"logs": `async function attack() { const line = "x".repeat(100000);
		for (let i = 0; i < 1000; i++) { console.log(line); if (i % 10 === 0) await scheduler.wait(1) } }`,
}

// greedy deploys a version of each of greedyWorkers.
func (d *daemon) greedy() map[string]api.Version {
	d.t.Helper()
	versions := map[string]api.Version{}
	for name, code := range greedyWorkers {
		dir := worker(d.t, `{ "name": "`+name+`", "main": "index.js", "compatibility_date": "2026-11-01", "d1_databases": [{ "binding": "DB" }] }`,
			map[string]string{"index.js": code + `
				export default { async fetch(req, env) {
					if (!req.url.endsWith("/attack")) return new Response("serves")
					try { await attack(env); return new Response("done") } catch (e) { return new Response(e.message) } } }`})
		versions[name] = d.deploy(dir, "--version", "v1")
	}
	return versions
}

// attackURL is the page of a greedy version with which the attack begins.
func attackURL(v api.Version) string { return strings.TrimSuffix(v.PreviewURL, "/") + "/attack" }

// TestWorkersThatTakeEverything lets workers use up memory, time, disk and log at the same
// time. Beside them another version answers every request; afterwards all serve again, and
// their logs say why.
func TestWorkersThatTakeEverything(t *testing.T) {
	t.Parallel()
	d := started(t, "SVC_WORKER_MEMORY_MB=256", "SVC_VERSION_DISK_MB=64")
	healthy := d.deploy(hello(t, "healthy"), "--version", "v1")
	versions := d.greedy()
	ctx, over := context.WithCancel(t.Context())
	var attacks, visits sync.WaitGroup
	visits.Go(func() {
		for ctx.Err() == nil {
			select {
			case <-ctx.Done():
			case <-time.After(5 * time.Millisecond): // leaves room for the attackers
			}
			a, err := d.try(t.Context(), http.MethodGet, healthy.PreviewURL, "", "")
			if err != nil || a.Status != http.StatusOK || a.Body != "healthy from v1" {
				t.Errorf("the healthy version: %d %s %v", a.Status, a.Body, err)
				return
			}
		}
	})
	var full answer
	patient := &http.Client{Transport: d.transport()} // the supervisor ends what takes too long
	for name, v := range versions {
		attacks.Go(func() {
			a, err := fetch(t.Context(), patient, http.MethodGet, attackURL(v), "")
			if name == "sql" && err == nil {
				full = a
			}
		})
	}
	attacks.Wait()
	over()
	visits.Wait()
	if !strings.Contains(full.Body, "database or disk is full") {
		t.Errorf("the endless insert ended with %d %s", full.Status, full.Body)
	}
	for name, v := range versions {
		svctest.Eventually(t, name+" to serve again", func() bool {
			a, err := d.try(t.Context(), http.MethodGet, v.PreviewURL, "", "")
			return err == nil && a.Status == http.StatusOK && a.Body == "serves"
		})
	}
	d.logs(versions["memory"], "out_of_memory: ")
	d.logs(versions["loop"], "unresponsive: ")
	d.logs(versions["logs"], "lines dropped: ")
}
