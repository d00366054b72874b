//go:build e2e && linux

package e2e

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

// isolated is a daemon with SVC_ISOLATION=user; nil if this process may not have one, after a check
// that the daemon says so.
func isolated(t *testing.T, env ...string) *daemon {
	t.Helper()
	d := newDaemon(t, append(env, "SVC_ISOLATION=user")...)
	up := d.start()
	switch log := d.log.String(); {
	case os.Geteuid() != 0 && (up || !strings.Contains(log, "SVC_ISOLATION=user") || !strings.Contains(log, "CAP_SETUID")):
		t.Errorf("without rights the daemon says:\n%s", log)
	case os.Geteuid() != 0:
		return nil
	case !up:
		t.Fatalf("the daemon ended:\n%s", log)
	}
	return d
}

// TestIsolatedBreakOut: a program in place of workerd that nothing confines but its user reaches
// nothing of another version and of the server, although it knows all paths and processes.
func TestIsolatedBreakOut(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	bin := programs(t, l.Addr().String())
	if d := isolated(t, "SVC_WORKERD="+filepath.Join(bin, "workerd"), "SVC_WORKER_CONFINE=off"); d != nil {
		d.breakOut(l, bin, true)
	}
}

const allConfig = `{ "name": "all", "main": "index.js", "compatibility_date": "2026-11-01",
	"d1_databases": [{ "binding": "DB", "database_name": "db", "database_id": "db" }], "kv_namespaces": [{ "binding": "KV" }],
	"r2_buckets": [{ "binding": "FILES", "bucket_name": "files" }],
	"durable_objects": { "bindings": [{ "name": "COUNTERS", "class_name": "Counter" }] }, "migrations": [{ "tag": "v1", "new_sqlite_classes": ["Counter"] }],
	"rules": [{ "type": "Text", "globs": ["**/*.txt"] }],
	"queues": { "producers": [{ "binding": "JOBS", "queue": "jobs" }], "consumers": [{ "queue": "jobs", "max_batch_timeout": 0 }] } }`

// allScript adds 1 to a number in each binding, and answers with all of them.
const allScript = `
import { DurableObject } from "cloudflare:workers";
import greeting from "./greeting.txt";
export class Counter extends DurableObject {
  add(n) {
    const sql = this.ctx.storage.sql;
    sql.exec("CREATE TABLE IF NOT EXISTS t (n INTEGER)");
    if (n) sql.exec("INSERT INTO t VALUES (1)");
    return sql.exec("SELECT count(*) AS n FROM t").one().n;
  }
}
export default {
  async fetch(request, env) {
    const n = new URL(request.url).pathname === "/add" ? 1 : 0;
    await env.DB.exec("CREATE TABLE IF NOT EXISTS t (n INTEGER)");
    if (n) await env.DB.exec("INSERT INTO t VALUES (1)");
    const db = await env.DB.prepare("SELECT count(*) AS n FROM t").first("n");
    const kv = Number(await env.KV.get("n")) + n;
    if (n) await env.KV.put("n", String(kv));
    const r2 = Number(await (await env.FILES.get("n"))?.text() ?? 0) + n;
    if (n) await env.FILES.put("n", String(r2));
    if (n) await env.JOBS.send("job");
    const objects = [];
    for (const name of ["a", "b"]) objects.push(await env.COUNTERS.get(env.COUNTERS.idFromName(name)).add(n));
    const jobs = (await env.KV.list({ prefix: "job:" })).keys.length;
    return Response.json({ greeting: greeting.trim(), db, kv, r2, objects, jobs });
  },
  async queue(batch, env) {
    for (const m of batch.messages) await env.KV.put("job:" + m.id, "done");
  },
};`

// sums waits until a worker of allScript answers n for each binding.
func (d *daemon) sums(v api.Version, n int) {
	d.t.Helper()
	d.serves(v.PreviewURL, fmt.Sprintf(`{"greeting":"hello","db":%d,"kv":%d,"r2":%d,"objects":[%d,%d],"jobs":%d}`, n, n, n, n, n, n))
}

// uidOf is the user of the workerd of a version.
func (d *daemon) uidOf(v api.Version) (uid int) {
	d.t.Helper()
	parent := fmt.Sprintf("\nPPid:\t%d\n", d.hostOf(v))
	list, err := filepath.Glob("/proc/[0-9]*/status")
	if err != nil {
		d.t.Fatal(err)
	}
	for _, path := range list {
		status, _ := os.ReadFile(path) // it may have ended
		if !strings.Contains(string(status), parent) {
			continue
		}
		if name, _, _ := strings.Cut(string(status), "\n"); name != "Name:\tworkerd" {
			d.t.Errorf("the process is called %q", name)
		}
		_, line, _ := strings.Cut(string(status), "\nUid:")
		if _, err := fmt.Sscan(line, &uid); err != nil {
			d.t.Fatal(err)
		}
		return uid
	}
	d.t.Fatalf("%s has no workerd", v.ID)
	return 0
}

// owned checks that all files of a version's objects belong to a user.
func (d *daemon) owned(v api.Version, uid int) {
	d.t.Helper()
	files, err := filepath.Glob(filepath.Join(d.dataDir(), "versions", v.ProjectID, v.ID, "objects", "*", "*.sqlite"))
	if err != nil || len(files) < 2 {
		d.t.Errorf("objects of %s: %v, %v", v.ID, files, err)
	}
	for _, path := range files {
		info, err := os.Stat(path)
		if err != nil {
			d.t.Error(err)
			continue
		}
		if s, ok := info.Sys().(*syscall.Stat_t); !ok || int(s.Uid) != uid {
			d.t.Errorf("%s belongs to %d, want %d", path, s.Uid, uid)
		}
	}
}

// TestIsolatedVersions: all bindings work for workerds with users of their own, which differ, for a spare
// too; also after a fork, a sleep, a crash of workerd, of the server, and when the setting is turned off
// and on again over the same data.
func TestIsolatedVersions(t *testing.T) {
	t.Parallel()
	d := isolated(t, "SVC_SPARE_HOSTS=1")
	if d == nil {
		return
	}
	dir := worker(t, allConfig, map[string]string{"index.js": allScript, "greeting.txt": "hello\n"})
	v1 := d.deploy(dir, "--version", "v1")
	d.get(v1.PreviewURL + "/add")
	d.sums(v1, 1)
	v2 := d.deploy(dir, "--version", "v2", "--parent", "v1")
	d.sums(v2, 1)
	d.get(v2.PreviewURL + "/add")
	d.sums(v2, 2)
	d.sums(v1, 1)
	hi := d.deploy(hello(t, "hi"), "--version", "v1")
	uids := map[int]bool{os.Geteuid(): true}
	for _, v := range []api.Version{v1, v2, hi} {
		uids[d.uidOf(v)] = true
	}
	if len(uids) != 4 {
		t.Errorf("the users of the server and three workerds: %v", uids)
	}
	d.owned(v1, d.uidOf(v1))
	d.killRuntime(v1)
	d.sums(v1, 1)
	d.ok(dir, "versions", "archive", "all/v2")
	d.ok(dir, "versions", "wake", "all/v2")
	d.sums(v2, 2)
	d.restarts("user", v1, v2)
	d.restarts("process", v1, v2)
	d.owned(v1, os.Geteuid())
	d.restarts("user", v1, v2)
	d.owned(v1, d.uidOf(v1))
	if code := d.stop(); code != 0 {
		t.Errorf("exit %d", code)
	}
	d.owned(v1, os.Geteuid())
}

// restarts kills the daemon and starts it with a value of SVC_ISOLATION.
func (d *daemon) restarts(isolation string, v1, v2 api.Version) {
	d.t.Helper()
	d.kill()
	if !d.start("SVC_ISOLATION=" + isolation) {
		d.t.Fatalf("the daemon does not start:\n%s", d.log.String())
	}
	d.sums(v1, 1)
	d.sums(v2, 2)
}

// TestIsolatedSleep: a version that slept runs as a user of its own again.
func TestIsolatedSleep(t *testing.T) {
	t.Parallel()
	d := isolated(t, "SVC_SLEEP_IDLE=1")
	if d == nil {
		return
	}
	d.deploy(hello(t, "production"), "--version", "v0")
	dir := worker(t, strings.Replace(allConfig, `"name": "all"`, `"name": "hello"`, 1), map[string]string{"index.js": allScript, "greeting.txt": "hello\n"})
	v1 := d.deploy(dir, "--version", "v1")
	d.get(v1.PreviewURL + "/add")
	d.sums(v1, 1)
	d.sleeps(v1)
	d.owned(v1, os.Geteuid())
	d.sums(v1, 1)
	if d.uidOf(v1) == os.Geteuid() {
		t.Error("after a sleep it has the user of the server")
	}
}

// TestIsolatedMachines: machines isolate as the server asks. One that may not runs no version, and says why.
func TestIsolatedMachines(t *testing.T) {
	t.Parallel()
	d, machines := fleetOf(t, 1, "SVC_ISOLATION=user", "SVC_ISOLATION_UIDS=1905000000-1905000099")
	if os.Geteuid() != 0 {
		svctest.Eventually(t, "the machine to refuse", func() bool { return strings.Contains(machines[0].log.String(), "CAP_SETUID") })
		return
	}
	v := d.deploy(hello(t, "hi"), "--version", "v1")
	d.serves(v.PreviewURL, "hi from v1")
	if uid := d.uidOf(v); !(svc.Isolation{First: 1905000000, Last: 1905000099}).Has(uid) {
		t.Errorf("the user %d", uid)
	}
}
