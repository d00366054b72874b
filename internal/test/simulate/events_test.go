//go:build simulate

package simulate

import (
	"math/rand/v2"
	"testing/synctest"
	"time"
)

// kinds are what may happen beside the answers to requests, with their usual odds.
var kinds = []struct {
	odds  int
	event func(*world)
}{
	{45, (*world).aWrite},
	{15, (*world).aRead},
	{6, (*world).aFork},
	{10, (*world).aStart}, // always possible
	{5, (*world).aTakeover},
	{4, (*world).heal},
	{6, (*world).aDeath},
	{2, (*world).anArchive},
	{2, (*world).aDestroy},
	{2, (*world).aShip},
	{4, (*world).aSweep},
}

// someOdds are the odds of a seed: some kinds are frequent, and some of the later ones never happen.
func someOdds(rng *rand.Rand) (odds []int) {
	for i, k := range kinds {
		factor := []int{1, 1, 1, 4}[rng.IntN(4)]
		if i > 3 && rng.IntN(6) == 0 {
			factor = 0
		}
		odds = append(odds, k.odds*factor)
	}
	return odds
}

// run makes the listed decisions, and then ends the run.
func (w *world) run(list []int) {
	root := newVersion("v0", nil)
	root.state = isLive
	w.versions = append(w.versions, root)
	w.start(root, w.machines[0])
	for _, index := range list {
		w.decide(index)
		if len(w.violations) > 0 {
			break
		}
	}
	w.rng = random(w.seed, streamEnd)
	reseedRuntime(w.seed, streamEnd)
	w.end()
}

// decide makes one decision: a request is answered, time passes, or an event begins.
func (w *world) decide(index int) {
	synctest.Wait()
	w.reap()
	stream := streamDecisions + uint64(index)
	w.rng = random(w.seed, stream)
	reseedRuntime(w.seed, stream)
	w.trace.add("decision %d", index)
	switch n := w.rng.IntN(100); {
	case n < 70:
		if r := w.take(); r != nil {
			w.answer(r)
			return
		}
		w.event()
	case n < 74:
		time.Sleep(time.Duration(w.rng.IntN(1200)) * time.Millisecond)
	case n < 75:
		time.Sleep(time.Duration(w.rng.IntN(60)) * time.Second)
	default:
		w.event()
	}
	time.Sleep(time.Duration(w.rng.IntN(3)) * time.Millisecond)
}

// event begins an event of a kind that the odds choose.
func (w *world) event() {
	all := 0
	for _, odds := range w.odds {
		all += odds
	}
	n := w.rng.IntN(all)
	for i, odds := range w.odds {
		if n -= odds; n < 0 {
			kinds[i].event(w)
			return
		}
	}
}
