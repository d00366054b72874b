package assetstore_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/svc"
)

// TestCollect: files that a version names stay, shared ones until the last of them has
// ended for the grace; those of an upload that led to nothing go with its version.
func TestCollect(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, &memstore.Bucket{})
		w.upload("v1", "shared", "own")
		w.upload("v2", "shared")
		w.upload("v3", "abandoned")
		if _, err := w.fill("v1", "shared", "own"); err != nil {
			t.Fatal(err)
		}
		check := func(when string, want svc.GCAssets, left ...string) {
			t.Helper()
			if got := w.collect(); got != want {
				t.Errorf("%s: %+v, want %+v", when, got, want)
			}
			var hashes []string
			for _, text := range left {
				hashes = append(hashes, file("", text).SHA256)
			}
			slices.Sort(hashes)
			if got := w.objects("files"); !slices.Equal(got, hashes) {
				t.Errorf("%s: the files are %v", when, got)
			}
		}
		time.Sleep(2 * time.Hour)
		check("all are needed", svc.GCAssets{Live: amount(3, 18)}, "shared", "own", "abandoned")
		w.ended["v1"], w.ended["v3"] = time.Now(), time.Now()
		check("in the grace of the versions", svc.GCAssets{Live: amount(3, 18)}, "shared", "own", "abandoned")
		time.Sleep(time.Hour)
		check("after it", svc.GCAssets{Live: amount(1, 6), Gone: amount(2, 12)}, "shared")
		check("once more", svc.GCAssets{Live: amount(1, 6)}, "shared")
		if lists := append(w.objects("asked"), w.objects("lists")...); !slices.Equal(lists, []string{"v2"}) {
			t.Errorf("lists: %v", lists)
		}
		w.ended["v2"] = time.Now().Add(-time.Hour)
		w.upload("v4", "new")
		w.ended["v4"] = time.Now().Add(-time.Hour)
		check("young files have a grace of their own", svc.GCAssets{Waiting: amount(1, 3), Gone: amount(1, 6)}, "new")
		check("while it lasts", svc.GCAssets{Waiting: amount(1, 3)}, "new")
		time.Sleep(time.Hour)
		check("after that", svc.GCAssets{Gone: amount(1, 3)})
	})
}

// TestAnnouncedIsKept: a file that a client was told to exist is not collected before its
// version has ended, although no version had it.
func TestAnnouncedIsKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, &memstore.Bucket{})
		w.upload("v1", "a")
		w.ended["v1"] = time.Now()
		time.Sleep(24 * time.Hour)
		if sent := w.upload("v2", "a"); sent != 0 {
			t.Errorf("v2 sends %d files", sent)
		}
		w.collect()
		if _, err := w.fill("v2", "a"); err != nil {
			t.Error(err)
		}
	})
}

// TestSharedOnDisk: versions share one file on disk, which Prune keeps until no version
// has it.
func TestSharedOnDisk(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &memstore.Bucket{})
	w.upload("v1", "a")
	var infos []os.FileInfo
	for _, version := range []string{"v1", "v2"} {
		dir, err := w.fill(version, "a")
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(filepath.Join(dir, "assets/0"))
		if err != nil {
			t.Fatal(err)
		}
		infos = append(infos, info)
	}
	if !os.SameFile(infos[0], infos[1]) {
		t.Error("the versions have copies")
	}
	pool := filepath.Join(w.dir, "shop", ".assets")
	for i, left := range []int{1, 1, 0} {
		if i > 0 {
			if err := os.RemoveAll(filepath.Join(w.dir, "shop", []string{"", "v1", "v2"}[i])); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Prune(t.Context(), "shop"); err != nil {
			t.Fatal(err)
		}
		if entries, err := os.ReadDir(pool); err != nil || len(entries) != left {
			t.Errorf("after %d versions: %v, %v", i, entries, err)
		}
	}
}

// TestDamagedObject: content that does not have its hash is not unpacked.
func TestDamagedObject(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &memstore.Bucket{})
	w.upload("v1", "a")
	key := "_assets/shop/files/" + file("", "a").SHA256
	if _, err := w.bucket.Put(t.Context(), key, bytes.NewReader([]byte("b")), 1, objstore.Condition{}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.fill("v1", "a"); svc.CodeOf(err) != svc.CodeAssetMismatch {
		t.Error(err)
	}
}
