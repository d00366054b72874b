package deploy_test

import (
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/svc"
)

// TestUploadAloneDeploysNothing: a bundle without a create-version call is no version.
// spec: [C1.4]
func TestUploadAloneDeploysNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.start(t, nil)
	v1 := ref("v1")
	w.upload(t, v1, hello(t))
	d.ArtifactArrived(v1)
	page, err := w.ListVersions(t.Context(), "shop", "", svc.PageRequest{})
	if depth, depthErr := w.QueueDepth(t.Context()); err != nil || depthErr != nil || len(page.Items) != 0 || depth != 0 {
		t.Errorf("%d versions, %d jobs, %v, %v", len(page.Items), depth, err, depthErr)
	}
	d.submit(t, svc.NewVersion{ID: "v1"})
	if v := d.run(t, v1); v.Status != svc.StatusReady {
		t.Errorf("after the create call: %s %q", v.Status, v.Error)
	}
}

// TestManifest: from the cache, from the bucket when the cache has none, and of versions
// without a bundle.
func TestManifest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.start(t, nil)
	v1 := d.submit(t, svc.NewVersion{ID: "v1"})
	if _, err := d.Manifest(t.Context(), v1); svc.CodeOf(err) != svc.CodeArtifactMissing {
		t.Errorf("before the upload: %v", err)
	}
	w.upload(t, v1, hello(t))
	fromBucket, err := d.Manifest(t.Context(), v1)
	if err != nil || fromBucket.Main != "index.js" {
		t.Errorf("got %+v, %v", fromBucket, err)
	}
	d.run(t, v1)
	if _, err := bundle.Load(w.bundle("v1")); err != nil {
		t.Error(err)
	}
	if err := w.bucket.Delete(t.Context(), "shop/v1/bundle.tar.zst"); err != nil {
		t.Fatal(err)
	}
	if m, err := d.Manifest(t.Context(), v1); err != nil || m.Modules[0].SHA256 != fromBucket.Modules[0].SHA256 {
		t.Errorf("got %+v, %v", m, err)
	}
	gone := registrytest.Add(t, w.DB, "shop", "gone", svc.TriggerDestroy)
	if _, err := d.Manifest(t.Context(), gone.Ref); svc.CodeOf(err) != svc.CodeVersionDestroyed {
		t.Errorf("got %v", err)
	}
}
