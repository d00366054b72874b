//go:build e2e

package e2e

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/s3/s3test"
	"github.com/svcctl/svcctl/internal/test/crashtest"
	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

// TestCrash lets versions be written to, branched, archived, woken and
// destroyed, while their processes, the daemon and the object store are killed
// and requests to the store fail. A child has the writes that its parent acknowledged
// before one cut; a restore of that cut from the object store alone is equal in
// every row; and no version loses an acknowledged write.
func TestCrash(t *testing.T) {
	t.Parallel()
	limit := crashtest.Duration(10 * time.Second)
	r := crashtest.Rand(t)
	var sum crashTally
	async := r.IntN(2)
	for end := time.Now().Add(limit); time.Now().Before(end) && !t.Failed(); {
		newCrashRun(t, r, &sum, "testdata/crash", (sum.Worlds+async)%2 == 0).run(min(time.Until(end), 3*time.Minute))
	}
	t.Logf("%+v", sum)
	if sum.Cuts == 0 || sum.Acknowledged == 0 {
		t.Error("nothing was verified")
	}
}

// crashTally counts what a run did.
type crashTally struct {
	Worlds, Forks, OfArchived, Failed, Cuts, Acknowledged, Archived, Destroyed int
	Workers, Hosts, Daemons, Stores, Machines                                  int
	Faults                                                                     int64
}

// crashRun is one daemon over all its lives, its object store, and what clients know.
type crashRun struct {
	*daemon // with its current address

	t        *testing.T
	rand     *rand.Rand
	sum      *crashTally
	store    *s3test.Store
	sync     bool
	bundle   []byte
	injector *injector
	live     map[string]*tested
	next     int
}

const project = "crash"

func newCrashRun(t *testing.T, r *rand.Rand, sum *crashTally, dir string, sync bool) *crashRun {
	t.Helper()
	sum.Worlds++
	w := &crashRun{t: t, rand: r, sum: sum, store: objectStore(t), sync: sync, live: map[string]*tested{}}
	durability := "SVC_DURABILITY=async"
	if w.sync {
		durability = "SVC_DURABILITY=sync"
	}
	d := started(t, external(w.store, durability, "SVC_SYNC_WINDOW=100ms", "PLATFORM_PORT="+freePort(t), "GATEWAY_PORT="+freePort(t))...)
	w.daemon = &daemon{t: t, home: d.home, env: d.env, log: d.log, note: d.note} // the injector changes the other
	w.bundle = []byte(d.ok(dir, "bundle", "-O", "-"))
	w.project(project)
	w.injector = &injector{d: d, store: w.store, rand: rand.New(rand.NewPCG(r.Uint64(), 1)), sum: sum}
	return w
}

// run executes random steps for the time of the test.
func (w *crashRun) run(limit time.Duration) {
	w.deploy("")
	stop := w.injector.start()
	w.t.Cleanup(stop)
	for end := time.Now().Add(limit); (time.Now().Before(end) || w.sum.Cuts == 0) && !w.t.Failed(); {
		w.step()
	}
	stop()
	for _, v := range w.live {
		v.stop()
		w.check(v)
		w.sum.Acknowledged += v.acknowledged()
	}
	w.sum.Faults += w.store.Way.Counts().Injected()
}

// step is one random action of a user.
func (w *crashRun) step() {
	parent := w.live[w.pick()]
	production := parent.index == 1 // cannot be archived or destroyed
	switch p := w.rand.IntN(20); {
	case len(w.live) > 3 && !production:
		w.destroy(parent)
	case p == 0:
		w.loseMachine()
	case p < 7 && !production:
		w.archived(parent)
	case len(w.live) > 5:
	default:
		w.sum.Forks++
		w.deploy(parent.id)
	}
}

func (w *crashRun) pick() string {
	ids := slices.Sorted(maps.Keys(w.live))
	if len(ids) == 0 {
		w.t.Fatal("no version lives")
	}
	return ids[w.rand.IntN(len(ids))]
}

// deploy creates a version with or without a parent, checks that it begins with its
// parent's data, and starts its writers.
func (w *crashRun) deploy(parent string) {
	w.next++
	id := fmt.Sprint("v", w.next)
	svctest.Succeeds(w.t, "the bundle of "+id, func() error { return w.uploadTo(id) })
	ask := api.CreateVersion{ID: id}
	var before map[int]int
	if parent != "" {
		ask.ParentVersionID = &parent
		before = w.live[parent].acks()
	}
	svctest.Succeeds(w.t, id+" to be accepted", func() error {
		_, err := w.client().CreateVersion(w.t.Context(), project, ask, "")
		return err
	})
	v := w.settled(id)
	if v.Status != api.VersionStatusReady {
		w.sum.Failed++
		w.t.Logf("%s: %s", id, v.Error)
		return
	}
	child := &tested{w: w, id: id, url: v.PreviewURL, index: w.next, known: map[int]int{}, tried: map[int]int{}}
	if parent != "" {
		w.branchedWell(child, w.live[parent], before)
	}
	w.live[id] = child
	child.start()
}

// archived archives a version, branches it, and wakes it.
func (w *crashRun) archived(v *tested) {
	v.stop()
	w.sum.Archived++
	svctest.Succeeds(w.t, v.id+" to be archived", func() error { _, err := w.client().Archive(w.t.Context(), project, v.id); return err })
	w.reached(v.id, api.VersionStatusArchived)
	if w.rand.IntN(2) == 0 {
		w.sum.Forks++
		w.sum.OfArchived++
		w.deploy(v.id)
	}
	svctest.Succeeds(w.t, v.id+" to be woken", func() error { _, err := w.client().Wake(w.t.Context(), project, v.id); return err })
	w.reached(v.id, api.VersionStatusReady)
	w.check(v)
	v.start()
}

func (w *crashRun) destroy(v *tested) {
	v.stop()
	w.check(v)
	w.sum.Destroyed++
	w.sum.Acknowledged += v.acknowledged()
	delete(w.live, v.id)
	svctest.Succeeds(w.t, v.id+" to be destroyed", func() error { _, err := w.client().Destroy(w.t.Context(), project, v.id); return err })
}

// loseMachine removes the local files of all versions. In sync mode no data is lost;
// async does not promise that, so the step is skipped.
func (w *crashRun) loseMachine() {
	if !w.sync {
		return
	}
	w.sum.Machines++
	w.injector.restart(func() {
		if err := os.RemoveAll(filepath.Join(w.dataDir(), "versions")); err != nil {
			w.t.Error(err)
		}
	})
	for _, v := range w.live {
		w.check(v)
	}
}
