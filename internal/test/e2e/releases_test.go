//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

func pageOf(n int) client.Page { return client.Page{Limit: n} }

// TestRelease puts new code on the data of production under writes: no write is lost, websockets
// reconnect, the candidate keeps its own writes, and the old version keeps its data and may be
// written by its own host name again.
func TestRelease(t *testing.T) {
	t.Parallel()
	d := started(t)
	v1 := d.deploy(ledgerDir, "--version", "v1")
	check := d.deploy(ledgerDir, "--version", "check", "--parent", "v1", "--var", "ROUND:two")
	d.do(http.MethodPost, check.PreviewURL+"/add", "", "of the candidate")
	writers := d.writeTo(v1.ProdURL, 4)
	writers.succeed(30)
	socket := d.openSocket(v1.ProdURL)
	d.checkSocket(socket, "v1")

	p := d.released("ledger", "check", api.ReleaseVersion{VersionID: "v2", Reason: "because"})
	if p.Status != api.PromotionStatusDone || p.Kind != api.PromotionKindRelease || p.CandidateVersionID != "check" || p.HeldMs == nil {
		t.Fatalf("%+v", p)
	}
	writers.succeed(30)
	if _, err := d.who(socket); websocket.CloseStatus(err) != websocket.StatusServiceRestart {
		t.Errorf("the websocket of the old version ended with %v", err)
	}
	d.checkLines(v1.ProdURL, writers.end())
	if a := d.get(v1.ProdURL + "/who"); a.Body != `{"version":"v2","round":"two"}` {
		t.Errorf("production answers %s", a.Body)
	}
	if a := d.get(v1.ProdURL + "/all"); strings.Contains(a.Body, "candidate") {
		t.Error("production has a write of the candidate")
	}
	d.oldVersionApart(v1)
}

// oldVersionApart checks the version that was production before a release.
func (d *daemon) oldVersionApart(old api.Version) {
	d.t.Helper()
	svctest.Succeeds(d.t, "the old version to sleep", func() error {
		v, err := d.client().Version(d.t.Context(), old.ProjectID, old.ID)
		if err == nil && (v.Events != api.VersionEventsHandedOver || v.HandedOverTo != "v2" || v.Runtime.State != api.RuntimeStateAsleep || !v.Pinned) {
			err = fmt.Errorf("%s, %s, %s", v.Events, v.HandedOverTo, v.Runtime.State)
		}
		return err
	})
	if a := d.do(http.MethodPost, old.PreviewURL+"/add", "", "apart"); a.Status != http.StatusOK || a.Body != old.ID {
		d.t.Errorf("the old version answers a write %d %s", a.Status, a.Body)
	}
	if a := d.get(old.ProdURL + "/all"); strings.Contains(a.Body, "apart") {
		d.t.Error("production has a later write of the old version")
	}
}

const stubborn = `export default {
  async fetch(request, env, ctx) {
    const { pathname } = new URL(request.url);
    if (pathname === "/late") {
      const { readable, writable } = new IdentityTransformStream();
      ctx.waitUntil((async () => {
        const w = writable.getWriter();
        await w.write(new TextEncoder().encode("begun "));
        await scheduler.wait(12000); // longer than a busy machine takes to the seal
        let said = "written";
        try { await env.DB.prepare("INSERT INTO lines VALUES ('late')").run(); } catch (e) { said = e.message; }
        await w.write(new TextEncoder().encode(said));
        await w.close();
      })());
      return new Response(readable);
    }
    if (pathname === "/all") return Response.json(await env.DB.prepare("SELECT text FROM lines").raw());
    return new Response(env.VERSION_ID);
  },
};`

// TestReleaseLateRequests: a request that outlasts the drain undoes the release, or its later
// write fails, in no case is it acknowledged by the old version alone.
func TestReleaseLateRequests(t *testing.T) {
	t.Parallel()
	d := started(t, "SVC_RELEASE_DRAIN=300ms")
	dir := worker(t, `{ "name": "late", "main": "index.js", "compatibility_date": "2026-11-01", "d1_databases": [{ "binding": "DB", "database_name": "late" }] }`,
		map[string]string{"index.js": stubborn, "migrations/0001_lines.sql": "CREATE TABLE lines (text TEXT PRIMARY KEY) STRICT;"})
	v1 := d.deploy(dir, "--version", "v1")
	d.deploy(dir, "--version", "check", "--parent", "v1")
	ask := func() (answered func() string) {
		said := make(chan string, 1)
		begun := make(chan struct{})
		go func() {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, v1.ProdURL+"/late", http.NoBody)
			if err != nil {
				said <- err.Error()
				return
			}
			said <- slowly(d.http(), req, begun)
		}()
		svctest.Wait(t, "the late request to begin", begun)
		return func() string { return <-said }
	}
	answered := ask()
	if p := d.released("late", "check", api.ReleaseVersion{}); p.Status != api.PromotionStatusFailed || !strings.HasPrefix(p.Error, "drain: release_busy: ") {
		t.Errorf("%s %s", p.Status, p.Error)
	}
	if got := answered(); got != "begun written" {
		t.Errorf("after the release was undone, the request answers %q", got)
	}
	answered = ask()
	p := d.released("late", "check", api.ReleaseVersion{LateRequests: api.ReleaseVersionLateRequestsRefuse})
	if p.Status != api.PromotionStatusDone {
		t.Fatalf("%s %s", p.Status, p.Error)
	}
	if got := answered(); !strings.Contains(got, "another version continues with the data") {
		t.Errorf("the late request answers %q", got)
	}
	if a := d.get(v1.ProdURL + "/all"); a.Body != `[["late"]]` {
		t.Errorf("production has %s", a.Body)
	}
}

// slowly sends a request and returns the whole answer; begun is closed after its first bytes.
func slowly(c *http.Client, req *http.Request, begun chan<- struct{}) string {
	resp, err := c.Do(req)
	if err != nil {
		close(begun)
		return err.Error()
	}
	defer resp.Body.Close()
	var text strings.Builder
	for buffer := make([]byte, 100); ; {
		n, err := resp.Body.Read(buffer)
		if text.Len() == 0 {
			close(begun)
		}
		text.Write(buffer[:n])
		if err != nil {
			return text.String()
		}
	}
}

// TestReleaseMovesWork: an instance of a workflow that waits, and a delayed message, continue in the
// new version and not in the old one. A release of code without the workflow is refused.
func TestReleaseMovesWork(t *testing.T) {
	t.Parallel()
	d := started(t)
	d.deploy(expenses, "--version", "v1")
	d.ok(expenses, "workflows", "trigger", "approval/v1", "expenses", "--id", "bob", "--params", `{"who":"bob","amount":20}`)
	d.until("v1", "bob", "waiting")
	without := d.deploy(worker(t, `{ "name": "approval", "main": "index.js", "compatibility_date": "2026-11-01" }`,
		map[string]string{"index.js": `export default { fetch: () => new Response("none") }`}), "--version", "without", "--parent", "v1")
	if p := d.released("approval", without.ID, api.ReleaseVersion{}); !strings.HasPrefix(p.Error, "settle: release_leaves_instances: ") {
		t.Errorf("a release without the workflow: %s %s", p.Status, p.Error)
	}
	d.deploy(expenses, "--version", "check", "--parent", "v1")
	p := d.released("approval", "check", api.ReleaseVersion{VersionID: "v2"})
	if p.Status != api.PromotionStatusDone || p.Moved == nil || p.Moved.Instances != 1 {
		t.Fatalf("%s %s %+v", p.Status, p.Error, p.Moved)
	}
	d.until("v2", "bob", "waiting")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	child := d.deploy(expenses, "--version", "child", "--parent", "v2")
	if out := d.ok(expenses, "workflows", "instances", "approval/"+child.ID, "expenses", "-o", "json"); strings.TrimSpace(out) != "[]" {
		t.Errorf("a child of the new version begins with %s", out)
	}
	if _, err := d.client().WaitPromotion(ctx, "approval", p.OperationID); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}
