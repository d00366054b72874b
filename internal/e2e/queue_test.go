//go:build e2e

package e2e

import (
	"testing"
	"time"

	"github.com/svcctl/svcctl/pkg/api"
)

// TestMissingBundleKeepsNobody: with one deploy worker, a version whose bundle
// never comes does not keep the next one from being deployed.
func TestMissingBundleKeepsNobody(t *testing.T) {
	t.Parallel()
	d := started(t)
	c := d.client()
	if _, err := c.CreateProject(t.Context(), api.CreateProject{ID: "forgetful"}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.CreateVersion(t.Context(), "forgetful", api.CreateVersion{ID: "v1", Upload: true}, ""); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	d.deploy(hello(t, "hi"))
	if took := time.Since(began); took > 40*time.Second { // the wait for a bundle is 60 s
		t.Errorf("the deploy took %s", took)
	}
	v, err := c.Version(t.Context(), "forgetful", "v1")
	if err != nil || v.Status != api.VersionStatusFetching {
		t.Errorf("the forgotten version is %s, %v", v.Status, err)
	}
}
