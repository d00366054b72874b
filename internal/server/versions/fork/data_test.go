package fork_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/svc"
)

// TestArchive: Archive drops the cache of its version after shipping, and no other.
func TestArchive(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, w *world) {
		w.cache(t, parent)
		w.cache(t, child)
		away := errors.New("object store down")
		w.archive = func(context.Context) error { return away }
		if err := w.Archive(t.Context(), parent); !errors.Is(err, away) || !w.Cached(parent) {
			t.Errorf("%v; cached: %v", err, w.Cached(parent))
		}
		w.archive = func(context.Context) error { return nil }
		for range 2 {
			if err := w.Archive(t.Context(), parent); err != nil || w.Cached(parent) || !w.Cached(child) {
				t.Errorf("%v; cached: %v, the other: %v", err, w.Cached(parent), w.Cached(child))
			}
		}
	})
}

// TestDestroy: the record is destroyed before the cache is dropped.
func TestDestroy(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, w *world) {
		w.forks(t, "one", made("warm"))
		if _, err := w.records.Acquire(t.Context(), child, svc.Owner{Node: "h", Session: "s"}, "v1"); err != nil {
			t.Fatal(err)
		}
		w.cache(t, child)
		for range 2 {
			if err := w.Destroy(t.Context(), child); err != nil || w.Cached(child) {
				t.Errorf("%v; cached: %v", err, w.Cached(child))
			}
		}
		if r, err := w.records.Record(t.Context(), child); err != nil || r == nil || r.State != branch.StateDestroying {
			t.Errorf("the record is %+v, %v", r, err)
		}
	})
}

// TestCacheCannotBeDropped: the error lets the caller retry.
func TestCacheCannotBeDropped(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	w.cache(t, parent)
	project := filepath.Join(w.data, "shop")
	if err := os.Rename(project, project+"2"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(project, nil, 0o600); err != nil { // not a directory
		t.Fatal(err)
	}
	if err := w.Destroy(t.Context(), parent); err == nil || !strings.HasPrefix(err.Error(), "dropping the cached data of shop/v1: ") {
		t.Errorf("the error is %v", err)
	}
}
