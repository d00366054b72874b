package gateway

import (
	"sync"
	"testing"
)

func TestTally(t *testing.T) {
	t.Parallel()
	for range 100 {
		ta := newTally()
		var claims sync.WaitGroup
		for range 4 {
			claims.Go(func() {
				for ta.acquire() {
					select {
					case <-ta.done:
						t.Error("done before the last claim is released")
					default:
					}
					ta.release()
				}
			})
		}
		ta.close()
		ta.close()
		<-ta.done
		claims.Wait()
		if ta.acquire() || ta.count() != 0 {
			t.Error("a closed tally accepted a claim, or counts one")
		}
	}
}

func TestGate(t *testing.T) {
	t.Parallel()
	g := newGate()
	first, ok := g.enter()
	if !ok {
		t.Fatal("a new gate is held")
	}
	g.release() // without a hold
	g.hold()
	g.hold()
	closed, ok := g.enter()
	if ok {
		t.Fatal("a held gate was entered")
	}
	g.release()
	<-closed.over
	second, ok := g.enter()
	if !ok {
		t.Fatal("a released gate is held")
	}
	first.release()
	if err := g.drain(t.Context()); err != nil {
		t.Errorf("the drain waited for a request after the hold: %v", err)
	}
	g.hold()
	second.release()
	if err := g.drain(t.Context()); err != nil || len(g.past) != 1 {
		t.Errorf("%v, %d epochs remembered", err, len(g.past))
	}
}
