//go:build e2e

package e2e

import (
	"net/http"
	"testing"

	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

// bellScript has one object with an alarm. It answers with what each run of the alarm has seen: the
// version, and what getAlarm gives. /set?in=MS sets the alarm, /holds/N fails unless N of them have
// run a second after it is due, and /fails fails then.
const bellScript = `import { DurableObject } from "cloudflare:workers";
export class Bell extends DurableObject {
  async set(ms) {
    const due = Date.now() + ms;
    await this.ctx.storage.put("due", due);
    await this.ctx.storage.setAlarm(due);
  }
  async state() {
    return { due: await this.ctx.storage.get("due"), rung: await this.ctx.storage.get("rung") ?? [] };
  }
  async alarm() {
    const { rung } = await this.state();
    await this.ctx.storage.put("rung", [...rung, this.env.VERSION_ID + " " + await this.ctx.storage.getAlarm()]);
  }
}
export default {
  async fetch(request, env) {
    const { pathname, searchParams } = new URL(request.url);
    const bell = env.BELLS.getByName("a");
    if (pathname === "/set") await bell.set(Number(searchParams.get("in")));
    const [, what, n] = pathname.split("/");
    if (what === "holds" || what === "fails") {
      const { due } = await bell.state();
      for (const end = Math.max(due, Date.now()) + 1000; Date.now() < end; ) await scheduler.wait(50);
      const { rung } = await bell.state();
      return new Response(JSON.stringify(rung), { status: rung.length === Number(n) ? 200 : 500 });
    }
    return Response.json((await bell.state()).rung);
  },
};`

func (d *daemon) deployBell() (dir string, v api.Version) {
	d.t.Helper()
	dir = worker(d.t, `{ "name": "bell", "main": "index.js", "compatibility_date": "2026-11-01",
		"durable_objects": { "bindings": [{ "name": "BELLS", "class_name": "Bell" }] }, "migrations": [{ "tag": "v1", "new_sqlite_classes": ["Bell"] }] }`,
		map[string]string{"index.js": bellScript})
	return dir, d.deploy(dir, "--version", "v1")
}

// rung waits until production's alarms have run as want says.
func (d *daemon) rung(v api.Version, want string) {
	d.t.Helper()
	svctest.Eventually(d.t, "the alarms "+want, func() bool { return d.served(v.ProdURL).Body == want })
}

// TestReleaseMovesAlarms: an alarm that is due in the hold runs once. If the release is undone, it runs
// in the old version, and else in the new one, when that is production. In a version that a release has
// replaced none begins.
func TestReleaseMovesAlarms(t *testing.T) {
	t.Parallel()
	d := started(t, "SVC_RELEASE_HOLD=20s")
	dir, v1 := d.deployBell()
	d.deploy(dir, "--version", "check", "--parent", "v1")
	d.get(v1.ProdURL + "/set?in=8000")
	if p := d.released("bell", "check", api.ReleaseVersion{VersionID: "undone", Check: "/fails"}); p.Status != api.PromotionStatusFailed {
		t.Fatalf("%s %s", p.Status, p.Error)
	}
	d.rung(v1, `["v1 null"]`)
	d.get(v1.ProdURL + "/set?in=8000")
	if p := d.released("bell", "check", api.ReleaseVersion{VersionID: "v2", Check: "/holds/1"}); p.Status != api.PromotionStatusDone {
		t.Fatalf("%s %s", p.Status, p.Error)
	}
	d.rung(v1, `["v1 null","v2 null"]`)
	if a := d.get(v1.ProdURL + "/holds/2"); a.Status != http.StatusOK {
		t.Errorf("a second later: %d %s", a.Status, a.Body)
	}
	d.served(v1.PreviewURL + "/set?in=0") // the old version gets no events
	if a := d.served(v1.PreviewURL + "/holds/1"); a.Status != http.StatusOK {
		t.Errorf("the old version: %d %s", a.Status, a.Body)
	}
}

// TestReadOnlyAlarms: an alarm that is due while the project is read-only runs afterwards, also when
// the server was started again.
func TestReadOnlyAlarms(t *testing.T) {
	t.Parallel()
	d := started(t)
	_, v := d.deployBell()
	d.get(v.ProdURL + "/set?in=3000")
	d.setReadOnly(v, true)
	holds := func() {
		t.Helper()
		if a := d.served(v.ProdURL + "/holds/0"); a.Status != http.StatusOK {
			t.Errorf("the project is read-only: %d %s", a.Status, a.Body)
		}
	}
	holds()
	d.kill()
	if !d.start() {
		t.Fatalf("the daemon does not start again:\n%s", d.log.String())
	}
	holds()
	d.setReadOnly(v, false)
	d.rung(v, `["v1 null"]`)
}
