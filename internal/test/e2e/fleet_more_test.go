//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/test/svctest"
)

// TestFleetCalls: a worker on one machine calls a worker on another one, by RPC with streams and by
// fetch, also after the machine of the other is lost.
func TestFleetCalls(t *testing.T) {
	t.Parallel()
	d, machines := fleetOf(t, 3)
	of := func(name string) string {
		return worker(t, `{ "name": "b", "main": "index.js", "compatibility_date": "2026-11-01", "services": [{ "binding": "CALLER", "service": "a" }] }`,
			map[string]string{"index.js": strings.ReplaceAll(callee, "NAME", name)})
	}
	b := d.deploy(of("b1"), "--version", "v1", "--allow-missing", "services")
	a := d.deploy(worker(t, `{ "name": "a", "main": "index.js", "compatibility_date": "2026-11-01", "services": [
		{ "binding": "B", "service": "b", "props": { "who": "a" } }, { "binding": "V1", "service": "b", "environment": "v1" } ] }`,
		map[string]string{"index.js": caller}), "--version", "v1")
	if d.machineOf(a) == d.machineOf(b) {
		t.Fatalf("both versions run on %s", d.machineOf(a))
	}
	for path, want := range map[string]string{
		"/name": "b1", "/old": "b1", "/color": "b1", "/fail": "TypeError: no good", "/props": `{"who":"a"}`, "/stream": "200000", "/fetch": "inner.test/path",
	} {
		if got := d.get(a.PreviewURL + path); got.Body != want {
			t.Errorf("%s: %q, want %q", path, got.Body, want)
		}
	}
	before := d.machineOf(b)
	for _, m := range machines {
		if m.name == before {
			m.kill()
		}
	}
	svctest.Succeeds(t, "the call after the loss of a machine", func() error {
		if got := d.get(a.PreviewURL + "/name"); got.Body != "b1" {
			return fmt.Errorf("%d %q", got.Status, got.Body)
		}
		return nil
	})
	if now := d.machineOf(b); now == before {
		t.Errorf("the callee runs on %s, which was lost", now)
	}
}

// TestFleetAsync kills a machine under writes whose durability is async: what is lost of the
// acknowledged writes is of the window before the loss. Then a machine gets SIGTERM: it leaves its
// version to another one, and no request fails and no write is lost.
func TestFleetAsync(t *testing.T) {
	t.Parallel()
	d, machines := fleetOf(t, 3)
	v1 := d.deploy(ledgerDir, "--version", "v1")
	of := func() *machine {
		for _, m := range machines {
			if m.name == d.machineOf(v1) {
				return m
			}
		}
		t.Fatal("no machine has the version")
		return nil
	}
	b := &daemonPair{t: t, daemons: []*daemon{d}, url: strings.TrimSuffix(v1.PreviewURL, "/")}
	writers := b.write(d, 4)
	b.await(writers, 100)
	at := of()
	at.kill()
	killed := time.Now()
	b.await(writers, 50)

	stored := func() string {
		a := d.do(http.MethodGet, b.url+"/all", "", "")
		if a.Status != http.StatusOK {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		return a.Body
	}
	lost := 0
	first := writers.end()
	for all, i := stored(), 0; i < len(first); i++ {
		if l := first[i]; !strings.Contains(all, `"`+l.text+`"`) {
			lost++
			if l.began.Before(killed.Add(-3 * time.Second)) {
				t.Errorf("%s is lost, asked for %s before the loss of the machine", l.text, killed.Sub(l.began))
			}
		}
	}
	t.Logf("%d lines acknowledged, %d of the window lost", len(first), lost)

	b.rounds++ // other lines
	writers = b.write(d, 4)
	b.await(writers, 50)
	leaves := of()
	if err := leaves.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	svctest.Wait(t, "the machine to end", leaves.exited)
	b.await(writers, 50)
	second := writers.end()
	if len(writers.failed) > 0 {
		t.Errorf("%d requests failed while the machine left, first: %s", len(writers.failed), writers.failed[0])
	}
	for all, i := stored(), 0; i < len(second); i++ {
		if !strings.Contains(all, `"`+second[i].text+`"`) {
			t.Errorf("%s is lost by an orderly move", second[i].text)
		}
	}
}
