package gate

import (
	"sync"
	"testing"
)

func TestTally(t *testing.T) {
	t.Parallel()
	for range 100 {
		ta := NewTally()
		var claims sync.WaitGroup
		for range 4 {
			claims.Go(func() {
				for ta.Acquire() {
					select {
					case <-ta.Done:
						t.Error("done before the last claim is released")
					default:
					}
					ta.Release()
				}
			})
		}
		ta.Close()
		ta.Close()
		<-ta.Done
		claims.Wait()
		if ta.Acquire() || ta.Count() != 0 {
			t.Error("a closed tally accepted a claim, or counts one")
		}
	}
}

func TestGate(t *testing.T) {
	t.Parallel()
	g := New()
	first, ok := g.Enter()
	if !ok {
		t.Fatal("a new gate is held")
	}
	g.Release() // without a hold
	g.Hold()
	g.Hold()
	closed, ok := g.Enter()
	if ok {
		t.Fatal("a held gate was entered")
	}
	g.Release()
	<-closed.Over
	second, ok := g.Enter()
	if !ok {
		t.Fatal("a released gate is held")
	}
	first.Release()
	if err := g.Drain(t.Context()); err != nil {
		t.Errorf("the drain waited for a request after the hold: %v", err)
	}
	g.Hold()
	second.Release()
	if err := g.Drain(t.Context()); err != nil || len(g.past) != 1 {
		t.Errorf("%v, %d epochs remembered", err, len(g.past))
	}
}
