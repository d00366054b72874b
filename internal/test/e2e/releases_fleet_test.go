//go:build e2e

package e2e

import (
	"testing"

	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

// TestReleaseOnMachines: a release of a version that runs on another machine; the server is killed
// while the data is sealed there. The sealed worker host ends by itself, the next server undoes the
// release, and no write is lost.
func TestReleaseOnMachines(t *testing.T) {
	t.Parallel()
	d, _ := fleetOf(t, 2, "GATEWAY_PORT="+freePort(t))
	prod := d.deploy(ledgerDir, "--version", "v1").ProdURL
	d.deploy(ledgerDir, "--version", "check", "--parent", "v1", "--var", "ROUND:two")
	writers := d.writeTo(prod, 2)
	writers.succeed(20)
	d.kill()
	if !d.start("SVC_FAILPOINT=release/seal/done") {
		t.Fatal("the daemon does not start")
	}
	writers.succeed(20)
	_, _ = d.client().Release(t.Context(), "ledger", "check", api.ReleaseVersion{VersionID: "lost"})
	d.died()
	if !d.start() {
		t.Fatal("the daemon does not start again")
	}
	d.oneOutcome("the seal", "lost", "v1")
	writers.succeed(20)
	p := d.released("ledger", "check", api.ReleaseVersion{VersionID: "v2"})
	if p.Status != api.PromotionStatusDone {
		t.Fatalf("%s %s", p.Status, p.Error)
	}
	writers.succeed(20)
	d.checkLines(prod, writers.end())
	svctest.Eventually(t, "production to be the new version", func() bool { return d.get(prod+"/who").Header.Get("Svc-Version") == "v2" })
}
