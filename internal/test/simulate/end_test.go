//go:build simulate

package simulate

import (
	"context"
	"fmt"
	"os"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/dataplane"
)

// end lets everything end without faults, loses all machines, and compares what the object store alone
// has with the model, before and after three sweeps.
func (w *world) end() {
	w.trace.add("end")
	w.settle(20 * time.Minute)
	for _, v := range w.versions {
		if v.newest != nil {
			w.ship(v.newest)
		}
	}
	w.settle(time.Minute)
	for _, v := range w.versions {
		w.loosen(v)
		for _, p := range v.processes {
			w.kill(p, lost)
		}
	}
	for _, m := range w.machines {
		w.kill(m.lease, exit)
	}
	w.settle(20 * time.Minute)
	w.readAll("at the end")
	for range 3 {
		time.Sleep(grace + time.Second)
		w.sweep(5 * time.Minute)
		w.settle(10 * time.Minute)
	}
	w.readAll("after the sweeps")
}

// settle answers all requests until no task runs. It sets the runtime's random numbers again for each
// round, as a decision does, so that a difference between two runs of a seed does not last.
func (w *world) settle(limit time.Duration) {
	w.faults = faults{}
	w.heal()
	for until := time.Now().Add(limit); time.Now().Before(until); {
		synctest.Wait()
		w.settled++
		reseedRuntime(w.seed, streamSettle+w.settled)
		w.reap()
		synctest.Wait()
		if r := w.take(); r != nil {
			w.answer(r)
			continue
		}
		if w.running() == 0 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	w.violate("stuck", "%d tasks do not end within %v without a fault", w.running(), limit)
}

// readAll reads each version from the object store alone, unless a rule was violated before.
func (w *world) readAll(what string) {
	if len(w.violations) > 0 {
		return
	}
	for _, v := range w.versions {
		if v.state != isGone && v.state != isNew {
			w.readStored(v, what+" "+v.id)
		}
	}
}

func (w *world) readStored(v *version, what string) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	m := &machine{name: "n3", lease: &process{name: "end"}}
	p := &process{version: v, machine: m, dir: w.newDir(), synced: map[string]int{}, branches: w.branches(branch.Config{Data: w.store})}
	defer os.RemoveAll(p.dir)
	volumes, err := dataplane.Open(ctx, w.config(p, w.store))
	if err != nil {
		panic(fmt.Sprintf("the configuration of a process is wrong: %v", err))
	}
	began := w.tick()
	for _, name := range databases {
		var got []int64
		db, err := volumes.Database(ctx, name)
		if err == nil {
			got, err = contents(ctx, db)
		}
		if err != nil && w.mustHaveTable(v) {
			w.violate("damaged", "%s: open %s: %v", what, name, err)
			continue
		}
		w.check(reading{v, name, got, began, w.tick(), what, nil})
	}
	if err := volumes.Close(); err != nil {
		w.violate("damaged", "%s: close: %v", what, err)
	}
}

// mustHaveTable reports whether a process of the version or of an ancestor has created the table for
// sure.
func (w *world) mustHaveTable(v *version) bool {
	for ; v != nil; v = v.parent {
		for _, p := range v.processes {
			if p.readyAt > 0 && w.sync {
				return true
			}
		}
	}
	return false
}
