//go:build e2e

package e2e

import (
	"testing"

	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

// TestIdleVersion: the server archives a version without use, but neither production
// nor a version with a pin.
// spec: [C9.3] [C9.4] [C9.5]
func TestIdleVersion(t *testing.T) {
	t.Parallel()
	d := started(t, "SVC_ARCHIVE_IDLE=1")
	prod := d.deploy(ledgerDir, "--version", "v1")
	c := d.client()
	becomes := func(id string, want api.VersionStatus) (v api.Version) {
		t.Helper()
		svctest.Eventually(t, id+" to be "+string(want), func() (ok bool) {
			v, _ = c.Version(t.Context(), "ledger", id)
			return v.Status == want
		})
		return v
	}
	for _, id := range []string{"pinned", "v2"} { // not awaited: a ready version may be archived a second later
		d.ok(ledgerDir, "deploy", "--version", id)
		if id == "pinned" {
			if _, err := c.Pin(t.Context(), "ledger", id); err != nil {
				t.Fatal(err)
			}
		}
	}
	svctest.Eventually(t, "pinned to be ready", func() bool {
		v, _ := c.Version(t.Context(), "ledger", "pinned")
		if v.Status == api.VersionStatusArchived { // on a busy machine before it was pinned
			_, _ = c.Wake(t.Context(), "ledger", "pinned")
		}
		return v.Status == api.VersionStatusReady
	})
	idle := becomes("v2", api.VersionStatusArchived)
	if a := d.get(idle.PreviewURL); a.Status != 503 || a.Header.Get("Svc-Error") != "version_archived" {
		t.Errorf("the archived version: %d %s", a.Status, a.Body)
	}
	for _, id := range []string{"v1", "pinned"} {
		if v, err := c.Version(t.Context(), "ledger", id); err != nil || v.Status != api.VersionStatusReady {
			t.Errorf("%s is %s, %v", id, v.Status, err)
		}
	}
	if a := d.get(prod.ProdURL); a.Status != 200 {
		t.Errorf("production: %d %s", a.Status, a.Body)
	}
}
