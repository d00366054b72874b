//go:build simulate

package simulate

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	grace    = 2 * time.Minute
	leaseTTL = 15 * time.Second
)

// databases are those that clients write: the shared one and one of a user.
var databases = []string{"sys", "database-x"}

// world is the state of a run. One goroutine runs at a time, so that its fields need a lock only where
// the bucket uses them.
type world struct {
	seed   uint64
	rng    *rand.Rand // of the decision in progress
	dir    string
	store  *memstore.Bucket
	sync   bool // the durability
	faults faults
	odds   []int // of each kind of event
	logger *slog.Logger

	trace      *trace
	clock      int // counts the events that the oracle orders
	stats      map[string]int
	violations []violation

	machines []*machine
	versions []*version
	writes   map[int64]*write
	lastID   int64
	started  int      // processes
	settled  uint64   // rounds of settle
	daemon   *process // which forks and sweeps

	mu       sync.Mutex // guards the fields below
	pending  []*request
	sent     map[string]int // requests, by name
	tasks    int            // that have not ended
	requests int            // that were answered
}

// newWorld makes a world with the faults and odds of a seed (swarm testing): each seed has some of
// the faults, some events are frequent, and some never happen.
func newWorld(seed uint64, dir string) *world {
	w := &world{
		seed: seed, rng: random(seed, streamWorld), dir: dir, store: new(memstore.Bucket), logger: slog.New(slog.DiscardHandler),
		trace: newTrace(), stats: map[string]int{}, writes: map[int64]*write{}, sent: map[string]int{},
	}
	w.sync = w.rng.IntN(3) > 0
	w.faults = someFaults(w.rng)
	w.odds = someOdds(w.rng)
	for _, name := range []string{"n1", "n2"} {
		w.newMachine(name)
	}
	w.daemon = w.newProcess(nil, nil, "daemon")
	return w
}

// tick is a new point of time of the oracle.
func (w *world) tick() int { w.clock++; return w.clock }

func (w *world) chance(odds float64) bool { return odds > 0 && w.rng.Float64() < odds }

func (w *world) ref(v *version) svc.Ref { return svc.Ref{Project: "shop", Version: v.id} }

// task runs fn beside the decisions.
func (w *world) task(fn func()) {
	w.mu.Lock()
	w.tasks++
	w.mu.Unlock()
	go func() {
		defer func() {
			w.mu.Lock()
			w.tasks--
			w.mu.Unlock()
		}()
		fn()
	}()
}

func (w *world) running() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.tasks
}

// where lists the versions for which f is true.
func (w *world) where(f func(v *version) bool) (list []*version) {
	return slices.DeleteFunc(slices.Clone(w.versions), func(v *version) bool { return !f(v) })
}

// pick chooses one of the list; ok is false when it is empty.
func pick[T any](w *world, list []T) (t T, ok bool) {
	if len(list) == 0 {
		return t, false
	}
	return list[w.rng.IntN(len(list))], true
}

// branches is the branch store of a process over its bucket.
func (w *world) branches(b branch.Config) *branch.Store {
	b.Grace, b.LeaseTTL, b.Logger = grace, leaseTTL, w.logger
	s, err := branch.New(b)
	if err != nil {
		panic(fmt.Sprintf("open branches: %v", err))
	}
	return s
}
