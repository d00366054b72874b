package deploy_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/objstore/objstoretest"
	"github.com/svcctl/svcctl/internal/server/versions/assetstore"
	"github.com/svcctl/svcctl/internal/server/versions/deploy"
	"github.com/svcctl/svcctl/internal/svc"
)

// detached is a bundle without its one asset.
func detached(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	_, err := bundle.Pack(&b, bundle.Manifest{
		Assets: &bundle.Assets{Detached: true, Files: []bundle.File{{Path: "assets/index.html"}}}, CompatibilityDate: "2026-11-01",
	}, bundle.Tree{"assets/index.html": []byte("<h1>")})
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestDetachedAssets: assets that the bundle leaves out come from the object store, also
// when the bundle is unpacked again; a version whose asset is missing fails by its name.
func TestDetachedAssets(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	failures := 1
	d := w.start(t, func(deps *deploy.Deps) {
		deps.Assets = assetstore.New(assetstore.Config{Dir: w.cache(), Bucket: objstoretest.Fail(w.bucket, func(op objstoretest.Op, key string) error {
			if op == objstoretest.Get && strings.Contains(key, "/files/") && failures > 0 {
				failures--
				return errors.New("connection refused")
			}
			return nil
		})})
	})
	sum := sha256.Sum256([]byte("<h1>"))
	key := "_assets/shop/files/" + hex.EncodeToString(sum[:])
	w.put(t, key, []byte("<h1>"))
	v1 := d.submit(t, svc.NewVersion{ID: "v1"})
	digest := w.upload(t, v1, detached(t))
	if v := d.run(t, v1); v.Status != svc.StatusReady || v.Digest != digest || failures != 0 {
		t.Fatalf("%s %q", v.Status, v.Error)
	}
	read := func() string {
		text, _ := os.ReadFile(filepath.Join(w.bundle("v1"), "assets/index.html"))
		return string(text)
	}
	if got := read(); got != "<h1>" {
		t.Errorf("the asset is %q", got)
	}
	if err := d.DropBundle(t.Context(), v1); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(filepath.Join(w.cache(), "shop", ".assets")); err != nil || len(entries) != 0 || read() != "" {
		t.Errorf("left on disk: %v, %v", entries, err)
	}
	if err := d.Start(t.Context(), v1); err != nil || read() != "<h1>" {
		t.Errorf("started again: %v, %q", err, read())
	}
	if err := errors.Join(d.DropBundle(t.Context(), v1), w.bucket.Delete(t.Context(), key)); err != nil {
		t.Fatal(err)
	}
	v2 := d.submit(t, svc.NewVersion{ID: "v2"})
	w.upload(t, v2, detached(t))
	if v := d.run(t, v2); v.Status != svc.StatusFailed || !strings.HasPrefix(v.Error, `fetching: asset_missing: the object store does not have the asset "assets/index.html"`) {
		t.Errorf("%s %q", v.Status, v.Error)
	}
}
