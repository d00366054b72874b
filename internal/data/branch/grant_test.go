package branch_test

import (
	"errors"
	"testing"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/svc"
)

// TestEarlierGrantIsLost: a grant ends when the same node acquires the data again, in the same session or
// in another one, and a process that has lost it neither releases nor archives what the next one owns.
func TestEarlierGrantIsLost(t *testing.T) {
	t.Parallel()
	s := open(t, new(memstore.Bucket))
	var old branch.Grant
	for i, session := range []string{"1", "1", "2"} {
		g, err := s.Acquire(t.Context(), ref("v"), svc.Owner{Node: "a", Session: session}, "")
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			if err := s.Holds(t.Context(), old); !errors.Is(err, branch.ErrLost) {
				t.Errorf("grant %d still holds: %v", i, err)
			}
			if err := s.Archive(t.Context(), old, nil, nil); !errors.Is(err, branch.ErrLost) {
				t.Errorf("grant %d archived: %v", i, err)
			}
			if err := s.Release(t.Context(), old); err != nil {
				t.Error(err)
			}
		}
		if err := s.Holds(t.Context(), g); err != nil {
			t.Errorf("grant %d: %v", i+1, err)
		}
		old = g
	}
}

// TestTakeoverStaysUntilTheRelease: a process that follows one that took the data over, and that may have
// died before it claimed each log, has to claim the logs too.
func TestTakeoverStaysUntilTheRelease(t *testing.T) {
	t.Parallel()
	s := open(t, new(memstore.Bucket))
	acquire := func(machine, session string) branch.Grant {
		t.Helper()
		g, err := s.Acquire(t.Context(), ref("v"), svc.Owner{Node: machine, Session: session}, "")
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	if acquire("a.m1", "1").TakenOver {
		t.Error("the first owner has taken over")
	}
	if !acquire("a.m2", "2").TakenOver {
		t.Error("the second machine has not taken over")
	}
	third := acquire("a.m2", "3")
	if !third.TakenOver {
		t.Error("the next process of the second machine does not know of the takeover")
	}
	if err := s.Release(t.Context(), third); err != nil {
		t.Fatal(err)
	}
	if acquire("a.m2", "4").TakenOver {
		t.Error("the mark outlives the release")
	}
}
