//go:build e2e

package e2e

import (
	"bytes"
	"database/sql"
	"slices"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/sqlite"
	"github.com/svcctl/svcctl/pkg/api"
)

func sagaSteps() []string { return []string{"validate", "drain", "pointers", "commit", "activate"} }

// forward lists the failpoints of a promotion, in order.
func forward() []string {
	points := []string{"registry/promotion/created"}
	for _, step := range sagaSteps() {
		points = append(points, "saga/"+step+"/started", "saga/"+step+"/did", "saga/"+step+"/done")
	}
	return append(points, "registry/promotion/finished")
}

// backward lists the failpoints of a promotion from the failure of step on.
func backward(step string) []string {
	points := []string{"saga/" + step + "/failed"}
	for _, s := range slices.Backward(sagaSteps()) {
		if s == step || len(points) > 1 {
			points = append(points, "saga/"+s+"/undid", "saga/"+s+"/undone")
		}
	}
	return points
}

// worldOfTwo has v1 in production and v2 beside it.
func worldOfTwo(t *testing.T, env ...string) *world {
	t.Helper()
	w := newWorld(t, env...)
	w.add(at(book, "v2"))
	return w
}

// TestFaultsPromote kills the daemon at points of the saga. The next one
// goes forward [D21]: an accepted promotion is done.
// spec: [C1.5] [C2.20] [C4.15] [C8.3] [C13.11]
func TestFaultsPromote(t *testing.T) {
	t.Parallel()
	inTurn(t, drawn(t, 4, forward()), func(w *world) {
		w.promote("v2")
		w.restart()
		w.ends(api.PromotionStatusDone, "v2")
		w.promote("v1") // and back
		w.ends(api.PromotionStatusDone, "v1")
	})
}

// inTurn runs check in worlds of two whose daemon exits at the point. Some points share a world, which
// costs more than they do; check leaves v1 in production.
func inTurn(t *testing.T, points []string, check func(w *world)) {
	t.Helper()
	const sharing = 6
	for group := range slices.Chunk(points, sharing) {
		t.Run("from "+strings.ReplaceAll(group[0], "/", "-"), func(t *testing.T) {
			t.Parallel()
			shared := worldOfTwo(t, "SVC_FAILPOINT="+group[0])
			for i, point := range group {
				ok := t.Run(strings.ReplaceAll(point, "/", "-"), func(t *testing.T) {
					w := *shared
					w.daemon = shared.on(t)
					defer func() { shared.note, shared.cmd, shared.exited = w.note, w.cmd, w.exited }()
					if i > 0 {
						w.againAt(point)
					}
					check(&w)
				})
				if !ok {
					return
				}
			}
		})
	}
}

// againAt starts the daemon again, so that it exits at a point.
func (w *world) againAt(point string) {
	w.t.Helper()
	w.kill()
	w.noProcessesLeft()
	if !w.start("SVC_FAILPOINT=" + point) {
		w.t.Fatalf("the daemon ended:\n%s", w.log.String())
	}
}

// ends checks the newest promotion, then the whole world.
func (w *world) ends(want api.PromotionStatus, prod string) {
	w.t.Helper()
	if p := w.promotions()[0]; p.Status != want {
		w.t.Errorf("the promotion of %s is %s (%s), want %s", p.VersionID, p.Status, p.Error, want)
	}
	w.check(prod)
}

// TestFaultsPromoteUndone kills the daemon at points of a promotion that
// compensates: the next daemon continues that, and v1 stays production.
// spec: [C8.10]
func TestFaultsPromoteUndone(t *testing.T) {
	t.Parallel()
	for _, c := range drawn(t, 2, []struct {
		step   string
		points []string
	}{
		{"drain", []string{"saga/drain/failed", "saga/drain/undone"}},
		{"pointers", []string{"saga/pointers/failed", "saga/pointers/undid"}},
		{"commit", []string{"saga/commit/failed", "saga/commit/undid"}},
		{"activate", backward("activate")},
	}) {
		inTurn(t, drawn(t, 2, c.points), func(w *world) {
			mend := w.breakStep(c.step)
			w.promote("v2")
			w.restart()
			w.undone(c.step)
			mend()
			w.promote("v2")
			w.ends(api.PromotionStatusDone, "v2")
			w.promote("v1") // for the next point
			w.ends(api.PromotionStatusDone, "v1")
		})
	}
}

// undone checks that the last promotion failed at step and left nothing.
func (w *world) undone(step string) {
	w.t.Helper()
	p := w.promotions()[0]
	if p.Status != api.PromotionStatusFailed || !strings.HasPrefix(p.Error, step+": ") {
		w.t.Errorf("the promotion is %s (%s), want one that failed at %s", p.Status, p.Error, step)
	}
	if step == "pointers" { // the trigger that blocks the write is still set
		return
	}
	w.check("v1")
}

// breakStep makes one step of the saga fail from outside the daemon: in the registry
// by a trigger, in the store by an object below the key.
func (w *world) breakStep(step string) (mend func()) {
	w.t.Helper()
	when := map[string]string{
		"drain":    `UPDATE OF status ON versions WHEN new.status = 'draining'`,
		"commit":   `UPDATE OF prod_version_id ON projects WHEN new.prod_version_id = 'v2'`,
		"activate": `UPDATE OF status ON versions WHEN old.status = 'draining' AND (SELECT prod_version_id FROM projects WHERE id = new.project_id) = 'v2'`,
	}[step]
	if when == "" {
		return w.blockPointer()
	}
	w.change(`CREATE TRIGGER broken BEFORE ` + when + ` BEGIN SELECT RAISE(ABORT, 'out of order'); END`)
	return func() { w.change(`DROP TRIGGER broken`) }
}

func (w *world) change(statement string) {
	w.t.Helper()
	w.registry(func(db *sqlite.DB) {
		if err := db.InTx(w.t.Context(), func(tx *sql.Tx) error {
			_, err := tx.ExecContext(w.t.Context(), statement)
			return err
		}); err != nil {
			w.t.Fatal(err)
		}
	})
}

// blockPointer puts an object below the pointer's name, where the store, which
// keeps directories, then cannot put the pointer.
func (w *world) blockPointer() (mend func()) {
	w.t.Helper()
	const key = book + "/production.json"
	bucket := w.objects("svc-runtime")
	if err := bucket.Delete(w.t.Context(), key); err != nil {
		w.t.Fatal(err)
	}
	if _, err := bucket.Put(w.t.Context(), key+"/block", bytes.NewReader([]byte("x")), 1, objstore.Condition{}); err != nil {
		w.t.Fatal(err)
	}
	return func() {
		if err := w.objects("svc-runtime").Delete(w.t.Context(), key+"/block"); err != nil {
			w.t.Fatal(err)
		}
	}
}

// TestFaultsPromoteEverywhere kills the daemon at many points of one promotion,
// one after the other, and starts it each time before the children of the killed
// daemon have exited.
func TestFaultsPromoteEverywhere(t *testing.T) {
	t.Parallel()
	t.Run("forward", func(t *testing.T) {
		t.Parallel()
		points := drawn(t, 6, forward())
		w := worldOfTwo(t, "SVC_FAILPOINT="+points[0])
		w.promote("v2")
		w.walk(points[1:])
		w.ends(api.PromotionStatusDone, "v2")
	})
	t.Run("backward", func(t *testing.T) {
		t.Parallel()
		points := drawn(t, 6, append(forward()[:13], backward("activate")...))
		w := worldOfTwo(t, "SVC_FAILPOINT="+points[0])
		mend := w.breakStep("activate")
		w.promote("v2")
		w.walk(append(points[1:], "registry/promotion/finished"))
		w.undone("activate")
		mend()
		w.promote("v2")
		w.ends(api.PromotionStatusDone, "v2")
	})
}

// walk starts the daemon so that it exits at each point in turn, then without a point.
func (w *world) walk(points []string) {
	w.t.Helper()
	for _, point := range points {
		w.died()
		w.start("SVC_FAILPOINT=" + point)
	}
	w.died()
	if !w.start() {
		w.t.Fatal("the daemon does not start again")
	}
}
