package gc_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// TestBranchSizes: what a child shares with its parent, measured twice a minute at most,
// and what the time limit leaves.
func TestBranchSizes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.version("parent")
		f := w.write("parent", 1, 3)
		w.fork("parent", "child", f...)
		w.write("child", 4, 5)
		sizes := func() svc.BranchSizes {
			t.Helper()
			got, err := w.gc.BranchSizes(t.Context(), "shop")
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		first := sizes()
		parent, child := first.Versions["parent"], first.Versions["child"]
		if child != (svc.BranchSize{Own: amount(2), Exclusive: amount(2), Shared: amount(3)}) || parent != (svc.BranchSize{Own: amount(3)}) {
			t.Errorf("got %+v, %+v", parent, child)
		}
		w.write("child", 6, 6)
		if again := sizes(); again.Versions["child"].Own.Objects != 2 || !again.MeasuredAt.Equal(first.MeasuredAt) {
			t.Errorf("measured again: %+v", again)
		}
		time.Sleep(31 * time.Second)
		if later := sizes(); later.Versions["child"].Own.Objects != 3 {
			t.Errorf("got %+v", later)
		}
		time.Sleep(31 * time.Second)
		w.registry.breakDown("shop", errors.New("disk"))
		if _, err := w.gc.BranchSizes(t.Context(), "shop"); svc.CodeOf(err) != svc.CodeGCFailed {
			t.Errorf("got %v", err)
		}
		hanging := newWorldOn(t, hangingLists("shop/"))
		hanging.version("v1")
		if got, err := hanging.gc.BranchSizes(t.Context(), "shop"); err != nil || !got.Incomplete || got.Versions != nil {
			t.Errorf("at the limit: %+v, %v", got, err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := w.gc.BranchSizes(ended, "shop"); err == nil {
			t.Error("measured without a context")
		}
	})
}
