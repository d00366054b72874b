//go:build e2e

package e2e

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/svcctl/svcctl/pkg/api"
)

var releaseMany = flag.Int("release.many", 3, "releases of one project, one after the other")

// maxManifest is more than the record of what a version inherits may have, in bytes, however many
// releases its data has been through.
const maxManifest = 64 << 10

// TestReleaseMany releases one project again and again. All writes are there, and what the last
// version inherits does not grow with the number of releases. The files of old versions stay until
// these are archived as idle.
func TestReleaseMany(t *testing.T) {
	t.Parallel()
	d := started(t, "PLATFORM_PORT="+freePort(t), "GATEWAY_PORT="+freePort(t))
	v0 := d.deploy(ledgerDir, "--version", "v0")
	d.deploy(ledgerDir, "--version", "check", "--parent", "v0")
	var lines []string
	var held []float64
	for n := range *releaseMany {
		lines = append(lines, fmt.Sprint("line ", n))
		if a := d.do(http.MethodPost, v0.ProdURL+"/add", "", lines[n]); a.Status != http.StatusOK {
			t.Fatalf("release %d: a write is answered %d %s", n, a.Status, a.Body)
		}
		p := d.released("ledger", "check", api.ReleaseVersion{VersionID: fmt.Sprint("r", n)})
		if p.Status != api.PromotionStatusDone {
			t.Fatalf("release %d: %+v", n, p)
		}
		held = append(held, *p.HeldMs)
		if size := d.manifestSize("ledger/r" + fmt.Sprint(n)); size > maxManifest {
			t.Fatalf("release %d: branch.json has %d bytes", n, size)
		}
	}
	d.checkLines(v0.ProdURL, lines)
	last := fmt.Sprint("ledger/r", *releaseMany-1)
	t.Logf("branch.json of %s has %d bytes; %d versions have files", last, d.manifestSize(last), d.cached("ledger"))
	d.kill()
	d.noProcessesLeft()
	began := time.Now()
	if !d.start() {
		t.Fatal("the daemon does not start")
	}
	d.served(v0.ProdURL + "/all")
	t.Logf("production serves %s after a kill", time.Since(began))
	d.checkLines(v0.ProdURL, lines)
	slices.Sort(held)
	t.Logf("held %.0f ms (%.0f to %.0f)", held[len(held)/2], held[0], held[len(held)-1])
}

// manifestSize is the size of the record of what a version inherits.
func (d *daemon) manifestSize(version string) int64 {
	d.t.Helper()
	info, err := d.objects("svc-runtime").Stat(d.t.Context(), version+"/branch.json")
	if err != nil {
		d.t.Fatal(err)
	}
	return info.Size
}

// cached is the number of versions with files on the disk.
func (d *daemon) cached(project string) int {
	d.t.Helper()
	dirs, err := os.ReadDir(filepath.Join(d.dataDir(), "versions", project))
	if err != nil {
		d.t.Fatal(err)
	}
	return len(dirs)
}
