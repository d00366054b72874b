//go:build e2e

package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

// TestReleaseGarbage collects garbage again and again while one release follows the other and old versions
// are destroyed. What a new production inherits stays: a server without its caches reads all of it.
func TestReleaseGarbage(t *testing.T) {
	t.Parallel()
	d := started(t, "GATEWAY_PORT="+freePort(t), "SVC_GC_GRACE=4s", "SVC_LEASE_TTL=1s")
	v1 := d.deploy(ledgerDir, "--version", "v1")
	d.deploy(ledgerDir, "--version", "check", "--parent", "v1")
	s := d.sendTo(v1.ProdURL, 2, map[string]*http.Client{"own": d.http()})
	g := d.sweep()
	last := "v1"
	for _, next := range []string{"v2", "v3", "v4"} {
		s.await("own", 20)
		if p := d.released("ledger", "check", api.ReleaseVersion{VersionID: next}); p.Status != api.PromotionStatusDone {
			t.Fatalf("%s: %s", next, p.Error)
		}
		s.await("own", 20)
		d.ok(d.home, "versions", "delete", "--yes", "ledger/"+last)
		last = next
	}
	svctest.Eventually(t, "garbage to be deleted", func() bool { return g.deleted.Load() > 0 })
	s.await("own", 20)
	g.end()
	t.Logf("%d sweeps deleted %d objects", g.sweeps.Load(), g.deleted.Load())
	lines := s.end()
	if failed := s.failures(); len(failed) > 0 {
		t.Errorf("%d requests failed, first: %s", len(failed), failed[0])
	}
	if code := d.stop(); code != 0 {
		t.Errorf("the server ended with %d", code)
	}
	if err := os.RemoveAll(filepath.Join(d.dataDir(), "versions")); err != nil {
		t.Fatal(err)
	}
	if !d.start() {
		t.Fatal("the server does not start again")
	}
	d.served(v1.ProdURL)
	d.checkLines(v1.ProdURL, lines)
	if out := d.ok(d.home, "admin", "gc", "--audit"); !strings.Contains(out, "no problem") {
		t.Error(out)
	}
}

// sweeper collects garbage again and again.
type sweeper struct {
	sweeps, deleted atomic.Int64
	stop            chan struct{}
	all             sync.WaitGroup
}

func (d *daemon) sweep() *sweeper {
	g, c := &sweeper{stop: make(chan struct{})}, d.client()
	g.all.Go(func() {
		for {
			select {
			case <-g.stop:
				return
			case <-time.After(50 * time.Millisecond): // leaves room for the tests beside it
			}
			if r, err := c.CollectGarbage(d.t.Context(), ""); err == nil {
				g.sweeps.Add(1)
				g.deleted.Add(int64(r.Total.Gone.Objects))
			}
		}
	})
	return g
}

func (g *sweeper) end() {
	close(g.stop)
	g.all.Wait()
}
