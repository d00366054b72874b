//go:build simulate

package simulate

import (
	"context"
	"errors"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/svc"
)

// destroy ends a version, as the daemon does. Its children keep what they have inherited.
func (w *world) destroy(v *version) {
	w.trace.add("destroy %s", v.id)
	w.stats["destroyed"]++
	v.wanted, v.state = false, isGone
	for _, p := range v.processes {
		w.kill(p, exit)
	}
	w.task(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_ = w.daemon.branches.Destroy(ctx, w.ref(v))
	})
}

// archive archives a version that no client writes: Archive demands that.
func (w *world) archive(v *version) {
	p := v.newest
	v.newest = nil
	free := v.occupy()
	w.trace.add("archive %s", v.id)
	began := w.tick()
	w.task(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
		defer cancel()
		err := p.volumes.Archive(ctx)
		free()
		if p.dead {
			return
		}
		w.trace.add("archived %s %v", v.id, err == nil)
		if svc.CodeOf(err) == svc.CodeArchiveUnverified {
			w.violate("damaged", "archive of %s: %v", p.name, err)
		}
		p.stopping = true
		if err == nil && v.state != isGone {
			w.stats["archived"]++
			w.shipped(v, began)
			v.state = isArchived
			delete(v.dirs, p.machine.name)
		}
	})
}

// sweep deletes what no version needs.
func (w *world) sweep(limit time.Duration) {
	w.stats["sweeps"]++
	w.trace.add("sweep")
	w.task(func() {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		report, err := w.daemon.branches.Sweep(ctx, "shop", branch.SweepOptions{Registry: w.registered})
		if err != nil {
			w.stats["failed sweeps"]++
			return
		}
		w.stats["deleted objects"] += len(report.Gone)
		for v, err := range report.Broken {
			if errors.Is(err, branch.ErrNotRestorable) {
				w.violate("damaged", "the sweep finds %s broken: %v", v, err)
			}
		}
		w.trace.add("swept %d", len(report.Gone))
	})
}

// registered is what the registry says of the versions.
func (w *world) registered(context.Context) (map[string]branch.Registered, error) {
	all := map[string]branch.Registered{}
	for _, v := range w.versions {
		all[v.id] = branch.Registered{Wanted: v.wanted, Forked: v.forked}
	}
	return all, nil
}

// ship sends everything to the object store, as before a planned stop.
func (w *world) ship(p *process) {
	w.task(func() {
		began := w.tick()
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := p.volumes.Ship(ctx); err == nil && !p.dead && p.version.newest == p {
			w.shipped(p.version, began)
		}
	})
}
