//go:build simulate

package simulate

import (
	"context"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/dataplane"
)

// forking is one fork by the daemon.
type forking struct {
	parent, child *version
	process       *process // of the parent; nil: from the object store alone
}

// fork makes a child of v, as the daemon does: three attempts, after each of which the daemon may crash
// and repeat the fork.
func (w *world) fork(v *version) {
	f := forking{v, newVersion(fmt.Sprintf("v%d", len(w.versions)), v), v.newest}
	w.versions = append(w.versions, f.child)
	crash := w.chance(.2)
	w.trace.add("fork %s of %s", f.child.id, v.id)
	free := v.occupy()
	w.task(func() {
		defer free()
		f.child.began = w.tick()
		for _, name := range databases {
			f.child.must[name] = w.mustHave(v, name)
		}
		for try := range 3 {
			err := w.tryFork(f)
			if err == nil && !(crash && try == 0) {
				w.forked(f)
				return
			}
			if f.process != nil && f.process.dead {
				break
			}
		}
		f.child.wanted, f.child.state = false, isGone // the deploy has failed
		w.stats["failed forks"]++
		w.trace.add("fork failed %s", f.child.id)
	})
}

// tryFork cuts the parent and writes the manifest of the child.
func (w *world) tryFork(f forking) error {
	ctx, cancel := context.WithTimeout(context.Background(), min(time.Minute, grace/4))
	defer cancel()
	began := time.Now()
	cuts, err := w.cut(ctx, f)
	if err != nil {
		return err
	}
	f.child.cut = w.tick()
	if len(cuts) == 0 {
		return fmt.Errorf("%s has no data yet", f.parent.id)
	}
	_, err = w.daemon.branches.Fork(ctx, branch.Fork{
		Parent: w.ref(f.parent), Child: w.ref(f.child), ID: f.child.id, At: began, Cuts: cuts,
	})
	return err
}

func (w *world) cut(ctx context.Context, f forking) (map[string]branch.Cut, error) {
	if f.process == nil {
		reader := *w.daemon
		reader.version, reader.machine = f.parent, w.machines[0]
		return dataplane.CutStored(ctx, w.config(&reader, bucket{w, w.daemon}))
	}
	cuts, _, err := f.process.volumes.Cut(ctx)
	if f.process.dead {
		return nil, errDead
	}
	return cuts, err
}

func (w *world) forked(f forking) {
	f.child.forked, f.child.state = true, isLive
	w.stats["forks"]++
	w.trace.add("forked %s", f.child.id)
	if f.process != nil {
		w.shipped(f.parent, f.child.began)
	}
}
