//go:build e2e

package e2e

import (
	"testing"

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
	d.deploy(hello(t, "hi"))
	v, err := c.Version(t.Context(), "forgetful", "v1")
	if err != nil || v.Status != api.VersionStatusFetching {
		t.Errorf("the forgotten version is %s, %v", v.Status, err)
	}
}
