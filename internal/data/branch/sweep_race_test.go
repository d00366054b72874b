package branch_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/svc"
)

// superseded is a version v1 with two files that a sweep deletes.
type superseded struct {
	store *branch.Store
	b     *memstore.Bucket
	files [2]branch.File
}

func newSuperseded(t *testing.T) superseded {
	t.Helper()
	b := new(memstore.Bucket)
	s := superseded{store: open(t, b), b: b}
	acquire(t, s.store, "v1")
	s.files = [2]branch.File{write(t, b, "v1", 0, 1, 1), write(t, b, "v1", 0, 2, 2)}
	write(t, b, "v1", 0, 3, 3)
	write(t, b, "v1", 1, 1, 3)
	if err := s.store.MarkDead(t.Context(), ref("v1"), []string{s.files[0].Key(), s.files[1].Key()}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(61 * time.Minute) // the grace
	return s
}

// sweep calls between after each of the two surveys, with 1 and 2.
func (s superseded) sweep(t *testing.T, between func(survey int)) *branch.Report {
	t.Helper()
	surveys := 0
	r, err := s.store.Sweep(t.Context(), "p", branch.SweepOptions{Registry: func(context.Context) (map[string]branch.Registered, error) {
		surveys++
		between(surveys)
		return map[string]branch.Registered{"v1": {Wanted: true}, "v2": {Wanted: true}}, nil
	}})
	if err != nil || surveys != 2 {
		t.Fatalf("%d surveys, %v", surveys, err)
	}
	return r
}

func (s superseded) there(t *testing.T) bool {
	t.Helper()
	return has(t, s.b, s.files[0]) && has(t, s.b, s.files[1])
}

// TestSweepForkedMeanwhile: a fork that was made after the first survey keeps the files that it begins
// with.
func TestSweepForkedMeanwhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSuperseded(t)
		r := s.sweep(t, func(survey int) {
			if survey == 1 {
				fork(t, s.store, "v1", "v2", 2, s.files[0], s.files[1])
			}
		})
		if !s.there(t) {
			t.Errorf("deleted %v, which a fork needs", keys(r.Gone))
		}
	})
}

// TestSweepOwnerChangedMeanwhile: nothing is deleted of a version that another owner acquired after the
// second survey; the next sweep deletes it.
func TestSweepOwnerChangedMeanwhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSuperseded(t)
		r := s.sweep(t, func(survey int) {
			if survey != 2 {
				return
			}
			if _, err := s.store.Acquire(t.Context(), ref("v1"), svc.Owner{Node: "a", Session: "2"}, ""); err != nil {
				t.Error(err)
			}
		})
		if !s.there(t) || !errors.Is(r.Broken[ref("v1")], branch.ErrLost) {
			t.Errorf("deleted %v of a new owner; broken: %v", keys(r.Gone), r.Broken)
		}
		if r = s.sweep(t, func(int) {}); len(r.Gone) != 2 || s.there(t) {
			t.Errorf("the next sweep deleted %v", keys(r.Gone))
		}
	})
}
