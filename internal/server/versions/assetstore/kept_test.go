package assetstore_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/svc"
)

// TestKept: files of a bundle that has them inside, and files that the object store has, are kept
// for a version, and collected after it.
func TestKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, &memstore.Bucket{})
		w.upload("v1", "stored")
		before := t.TempDir()
		if err := os.MkdirAll(filepath.Join(before, "assets"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(before, "assets", "inside.js"), []byte("inside"), 0o600); err != nil {
			t.Fatal(err)
		}
		kept := bundle.Kept{Files: []bundle.KeptFile{{File: file("inside.js", "inside"), Releases: 1}, {File: file("stored.js", "stored"), Releases: 2}}}
		if err := w.Keep(t.Context(), ref("v2"), kept, before); err != nil {
			t.Fatal(err)
		}
		w.ended["v1"] = time.Now()
		time.Sleep(2 * time.Hour)
		if got := w.collect(); got != (svc.GCAssets{Live: amount(2, 12)}) {
			t.Errorf("files that a version keeps: %+v", got)
		}
		dir := filepath.Join(w.dir, "shop", "v2")
		if err := w.FillKept(t.Context(), ref("v2"), dir); err != nil {
			t.Fatal(err)
		}
		list, err := bundle.LoadKept(dir)
		if d := cmp.Diff(kept, list); d != "" || err != nil {
			t.Errorf("%v %s", err, d)
		}
		for _, f := range kept.Files {
			if text, err := os.ReadFile(bundle.KeptPath(dir, f.File)); err != nil || int64(len(text)) != f.Size {
				t.Errorf("%s: %q, %v", f.Path, text, err)
			}
		}
		w.ended["v2"] = time.Now().Add(-time.Hour)
		if got := w.collect(); got != (svc.GCAssets{Gone: amount(2, 12)}) || len(w.objects("kept")) != 0 {
			t.Errorf("after the end: %+v, lists %v", got, w.objects("kept"))
		}
		// A version starts without the files that are lost.
		if err := w.Keep(t.Context(), ref("v3"), bundle.Kept{Files: kept.Files[:1]}, before); err != nil {
			t.Fatal(err)
		}
		if err := w.bucket.Delete(t.Context(), "_assets/shop/files/"+kept.Files[0].SHA256); err != nil {
			t.Fatal(err)
		}
		lost, err := w.LostKept(t.Context(), "shop")
		if d := cmp.Diff(map[string][]string{"v3": {"assets/inside.js"}}, lost); d != "" || err != nil {
			t.Errorf("%v %s", err, d)
		}
		if err := os.RemoveAll(w.dir); err != nil {
			t.Fatal(err)
		}
		dir = filepath.Join(w.dir, "shop", "v3")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := w.FillKept(t.Context(), ref("v3"), dir); err != nil {
			t.Fatal(err)
		}
		if list, err = bundle.LoadKept(dir); err != nil || len(list.Files) != 0 {
			t.Errorf("a lost file is listed: %v, %v", list, err)
		}
		if got := w.objects("kept"); !slices.Equal(got, []string{"v3"}) {
			t.Errorf("lists: %v", got)
		}
	})
}
