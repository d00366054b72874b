package entry_test

import (
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/host/entry"
	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// bells is a worker with one object, BELL. It answers with what each run of its alarm has seen: what
// getAlarm gives, whether it is an invocation, and how often the alarm failed before. /set sets an
// alarm that is due immediately; /slow one that runs until /end, and fails; / waits a moment first.
const bells = `
try { globalThis.scheduler = {}; } catch {}
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
let ended = true;
export class Bell BASE {
  CONSTRUCTOR
  async fetch(r) {
    const { storage } = this.STATE;
    const { pathname } = new URL(r.url);
    if (pathname === "/slow") ended = false;
    if (pathname === "/end") ended = true;
    if (pathname === "/set" || pathname === "/slow") await storage.setAlarm(Date.now());
    else await pause(200);
    return Response.json(await storage.get("rung") ?? []);
  }
  async alarm(info) {
    const { storage } = this.STATE;
    const rung = await storage.get("rung") ?? [];
    rung.push([await storage.getAlarm(), this.ENV.PROBE.id() !== null, info?.retryCount ?? 0]);
    await storage.put("rung", rung);
    if (ended) return;
    while (!ended) await pause(5);
    throw new Error("the slow one fails");
  }
}
export default { fetch: (r, env) => env.BELL.get(env.BELL.idFromName("a")).fetch(r) };`

// bellForms are the forms of a class of Durable Objects.
func bellForms() map[string]string {
	extends := strings.NewReplacer("BASE", "extends DurableObject", "CONSTRUCTOR", "", "STATE", "ctx", "ENV", "env")
	plain := strings.NewReplacer("BASE", "", "CONSTRUCTOR", "constructor(state, env) { this.state = state; this.own = env; }", "STATE", "state", "ENV", "own")
	return map[string]string{
		"extends": `import { DurableObject } from "cloudflare:workers";` + extends.Replace(bells),
		"plain":   plain.Replace(bells),
	}
}

// startBells starts such a worker. Alarms that wait are set again after longest, in JavaScript.
func startBells(t *testing.T, held bool, longest, date, source string) worker {
	t.Helper()
	return startChanged(t, func(c *workerd.Config) {
		w := c.Services[0].Worker
		w.Bindings = append(w.Bindings, workerd.Binding{Name: "BELL", ObjectClass: "Bell"})
		w.ObjectClasses = []workerd.ObjectClass{{Name: "Bell", Key: "bell", SQL: true}}
		own := entry.Extensions(3, false, held)
		for i := range own {
			own[i].Source = strings.Replace(own[i].Source, "LONGEST = 14 * 60_000", "LONGEST = "+longest, 1)
		}
		c.Extensions = append(own, c.Extensions[len(own):]...)
	}, date, esm("index.js", source))
}

// rings waits until alarms have seen what want says.
func (w worker) rings(t *testing.T, want string) {
	t.Helper()
	svctest.Eventually(t, "the alarms to see "+want, func() bool { return w.get("/") == "200 "+want })
}

func (w worker) wants(t *testing.T, f func(string) string, path, want string) {
	t.Helper()
	if got := f(path); got != "200 "+want {
		t.Errorf("%s: %s, want 200 %s", path, got, want)
	}
}

// TestAlarmsWait: an alarm that is due begins when the host says so, and is an invocation as without
// a wait.
func TestAlarmsWait(t *testing.T) {
	t.Parallel()
	for form, source := range bellForms() {
		for _, date := range []string{"2023-05-01", "2026-11-17"} {
			t.Run(form+" "+date, func(t *testing.T) {
				t.Parallel()
				w := startBells(t, true, "14 * 60_000", date, source)
				w.wants(t, w.get, "/set", `[]`)
				w.wants(t, w.get, "/", `[]`)
				w.wants(t, w.ask, entry.PathAlarms, "0") // that waits does not run
				w.wants(t, w.ask, entry.PathBegin, "0")
				w.rings(t, `[[null,true,0]]`)
				w.wants(t, w.ask, entry.PathHold, "0")
				w.wants(t, w.get, "/set", `[[null,true,0]]`)
				w.wants(t, w.get, "/", `[[null,true,0]]`)
				w.ask(entry.PathBegin)
				w.rings(t, `[[null,true,0],[null,true,0]]`)
			})
		}
	}
}

// TestAlarmsWaitLong: an alarm that waits longer than a handler may run is neither lost nor takes its
// waits for failures.
func TestAlarmsWaitLong(t *testing.T) {
	t.Parallel()
	for form, source := range bellForms() {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			w := startBells(t, true, "50", "2026-11-17", source)
			w.get("/set")
			w.get("/set") // replaces the one that waits
			for range 8 {
				w.wants(t, w.get, "/", `[]`)
			}
			w.ask(entry.PathBegin)
			w.rings(t, `[[null,true,0]]`)
			w.wants(t, w.get, "/", `[[null,true,0]]`)
		})
	}
}

// TestAlarmsThatRun are counted until they end, also with an exception.
func TestAlarmsThatRun(t *testing.T) {
	t.Parallel()
	for _, date := range []string{"2023-05-01", "2026-11-17"} {
		t.Run(date, func(t *testing.T) {
			t.Parallel()
			w := startBells(t, false, "14 * 60_000", date, bellForms()["extends"])
			w.get("/slow")
			w.rings(t, `[[null,true,0]]`)
			w.wants(t, w.ask, entry.PathHold, "1")
			w.wants(t, w.ask, entry.PathWorks, "0")
			w.get("/end")
			svctest.Eventually(t, "the alarm to end", func() bool { return w.ask(entry.PathAlarms) == "200 0" })
			w.ask(entry.PathBegin)
			w.rings(t, `[[null,true,0],[null,true,1]]`)
		})
	}
}
