package promote_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/svc"
)

// TestCrashAtEveryCall crashes the daemon before and after every read and write of a
// promotion, without a failure and with each kind of failure. The next daemon ends
// with one production and one route.
func TestCrashAtEveryCall(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	template := worldWithProduction(t)
	for name, fails := range map[string]string{
		"no failure": "", "pointers fail": "put", "commit fails": "commit v2", "activate fails": "move undrain",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for k := 1; ; k++ {
				once := fails
				f := &faults{left: k, fail: func(call string) error {
					if call == once {
						once = ""
						return boom
					}
					return nil
				}}
				if !crashAt(t, f, template.copy(t), k) {
					return
				}
			}
		})
	}
}

// crashAt crashes the daemon at point k. It reports false if the promotion had fewer
// points.
func crashAt(t *testing.T, f *faults, w *world, k int) bool {
	t.Helper()
	f.world = w
	d := w.start(t, f.use)
	_, err := d.Promote(t.Context(), ref("v2"), svc.PromoteRequest{})
	d.stop(t)
	next := w.start(t, nil)
	if err := next.ResumeAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := "v1"
	ops, listErr := w.ListPromotions(t.Context(), "shop", svc.PageRequest{Limit: 1})
	if listErr != nil {
		t.Fatal(listErr)
	}
	if len(ops.Items) == 1 && ops.Items[0].Status == svc.PromotionDone {
		want = "v2"
	}
	if err == nil && len(ops.Items) == 0 {
		t.Errorf("point %d: an accepted promotion is lost", k)
	}
	t.Run(fmt.Sprintf("point %d", k), func(t *testing.T) { w.check(t, next.gateway, want) })
	if op := next.promote(t, w, "v2"); op.Status == svc.PromotionFailed {
		t.Errorf("point %d: the next promotion fails: %s", k, op.Error)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.crashed
}

// template is a registry's file and a pointer object, created once and copied.
type template struct{ file, pointer []byte }

// worldWithProduction returns a world with production v1 and a ready v2.
func worldWithProduction(t *testing.T) template {
	t.Helper()
	path := filepath.Join(t.TempDir(), "registry.db")
	w := &world{DB: registrytest.OpenAt(t, path), bucket: &memstore.Bucket{}}
	if _, _, err := w.CreateProject(t.Context(), svc.Project{ID: "shop"}); err != nil {
		t.Fatal(err)
	}
	w.addReady(t, "v1")
	w.addReady(t, "v2")
	if err := w.start(t, nil).AssignFirst(t.Context(), ref("v1")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil { // writes the whole WAL into the file
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	body, _, err := w.bucket.Get(t.Context(), "shop/production.json", 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	pointer, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	return template{file, pointer}
}

func (tmpl template) copy(t *testing.T) *world {
	t.Helper()
	path := filepath.Join(t.TempDir(), "registry.db")
	if err := os.WriteFile(path, tmpl.file, 0o600); err != nil {
		t.Fatal(err)
	}
	w := &world{DB: registrytest.OpenAt(t, path), bucket: &memstore.Bucket{}}
	if _, err := w.bucket.Put(t.Context(), "shop/production.json", bytes.NewReader(tmpl.pointer), -1, objstore.Condition{}); err != nil {
		t.Fatal(err)
	}
	return w
}

// TestStrayDraining: a draining version without a promotion is ready after the start.
func TestStrayDraining(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addReady(t, "v1")
	if _, err := w.Move(t.Context(), ref("v1"), svc.TriggerDrain, svc.Change{}); err != nil {
		t.Fatal(err)
	}
	d := w.start(t, nil)
	if err := d.ResumeAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := w.status(t, "v1"); got != svc.StatusReady {
		t.Errorf("v1 is %s", got)
	}
}
