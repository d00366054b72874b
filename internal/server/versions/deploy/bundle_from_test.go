package deploy_test

import (
	"testing"

	"github.com/svcctl/svcctl/internal/svc"
)

// TestBundleFrom: a version can have the bundle of another one, without an upload.
func TestBundleFrom(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	deployed(t, w, "v1")
	d := w.start(t, nil)
	digest := w.upload(t, ref("other"), hello(t))
	v := d.run(t, d.submit(t, svc.NewVersion{ID: "v2", ParentID: "v1", BundleFrom: "v1"}))
	if v.Status != svc.StatusReady || v.Digest != digest {
		t.Errorf("%s %q, digest %s", v.Status, v.Error, v.Digest)
	}
	if again := d.submit(t, svc.NewVersion{ID: "v2", ParentID: "v1", BundleFrom: "v1"}); again != ref("v2") {
		t.Errorf("a repeat: %v", again)
	}
	for code, n := range map[string]svc.NewVersion{
		svc.CodeBundleFromUnknown: {ID: "v3", BundleFrom: "nothing"},
		svc.CodeDigestMismatch:    {ID: "v3", BundleFrom: "v1", Digest: "sha256:" + digest[7:39] + digest[7:39]},
		svc.CodeInvalidID:         {ID: "v3", BundleFrom: "v3"},
	} {
		n.Project = "shop"
		if _, err := d.Submit(t.Context(), n, svc.SubmitOptions{}); svc.CodeOf(err) != code {
			t.Errorf("want %s, got %v", code, err)
		}
	}
}
