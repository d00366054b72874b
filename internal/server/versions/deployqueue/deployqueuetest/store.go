package deployqueuetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/server/versions/deployqueue"
	"github.com/svcctl/svcctl/internal/svc"
)

// Fresh returns a store with n due jobs, of the versions Ref(1) to Ref(n) in this
// order.
type Fresh func(t *testing.T, n int) deployqueue.Store

// Ref returns the version of the n-th job.
func Ref(n int) svc.Ref { return svc.Ref{Project: "p", Version: fmt.Sprintf("v%d", n)} }

// expired is the length of a lease that has expired when it begins.
const expired = -time.Second

// Store checks the contract of deployqueue.Store.
func Store(t *testing.T, fresh Fresh) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, Fresh){
		"oldest first":                     oldestFirst,
		"an expired lease":                 leaseExpired,
		"extend":                           extend,
		"finish":                           finish,
		"retry":                            retry,
		"snooze":                           snooze,
		"wake":                             wake,
		"next":                             next,
		"rescue":                           rescue,
		"two claimers never share a job":   neverShared,
		"only the owner may touch the job": ownerOnly,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, fresh)
		})
	}
}

// nth is the job and the attempt that a test expects to claim.
type nth struct{ n, attempt int }

// none expects no job.
var none = nth{} //nolint:gochecknoglobals // a constant

// claim claims a job and fails the test if it is not the expected one.
func claim(t *testing.T, s deployqueue.Store, owner string, lease time.Duration, want nth) deployqueue.Job {
	t.Helper()
	j, ok, err := s.ClaimJob(t.Context(), owner, lease)
	switch {
	case err != nil:
		t.Fatal(err)
	case want == none && ok:
		t.Fatalf("claimed %+v, want none", j)
	case want != none && (!ok || j.Ref != Ref(want.n) || j.Attempt != want.attempt):
		t.Fatalf("claimed %v, %+v; want %v, attempt %d", ok, j, Ref(want.n), want.attempt)
	}
	return j
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func oldestFirst(t *testing.T, fresh Fresh) {
	s := fresh(t, 3)
	for n := 1; n <= 3; n++ {
		claim(t, s, "a", time.Hour, nth{n, 1})
	}
	claim(t, s, "a", time.Hour, none)
}

func leaseExpired(t *testing.T, fresh Fresh) {
	s := fresh(t, 1)
	claim(t, s, "a", expired, nth{1, 1})
	claim(t, s, "b", time.Hour, nth{1, 2})
	claim(t, s, "c", time.Hour, none)
}

func extend(t *testing.T, fresh Fresh) {
	s := fresh(t, 1)
	j := claim(t, s, "a", expired, nth{1, 1})
	must(t, s.ExtendJob(t.Context(), j.ID, "a", time.Hour))
	claim(t, s, "b", time.Hour, none)
	must(t, s.ExtendJob(t.Context(), j.ID, "a", expired))
	claim(t, s, "b", time.Hour, nth{1, 2})
}

func finish(t *testing.T, fresh Fresh) {
	s := fresh(t, 2)
	j := claim(t, s, "a", expired, nth{1, 1})
	must(t, s.FinishJob(t.Context(), j.ID, "a"))
	claim(t, s, "a", time.Hour, nth{2, 1})
	claim(t, s, "a", time.Hour, none)
}

// later and before are times at which a job that is put back is not due, and due.
func later() time.Time  { return time.Now().Add(time.Hour) }
func before() time.Time { return time.Now().Add(-time.Second) }

func retry(t *testing.T, fresh Fresh) {
	s := fresh(t, 1)
	j := claim(t, s, "a", time.Hour, nth{1, 1})
	must(t, s.RetryJob(t.Context(), j.ID, "a", later()))
	claim(t, s, "a", time.Hour, none)
	s = fresh(t, 1)
	j = claim(t, s, "a", time.Hour, nth{1, 1})
	must(t, s.RetryJob(t.Context(), j.ID, "a", before()))
	claim(t, s, "a", time.Hour, nth{1, 2})
}

func snooze(t *testing.T, fresh Fresh) {
	s := fresh(t, 2)
	j := claim(t, s, "a", time.Hour, nth{1, 1})
	must(t, s.SnoozeJob(t.Context(), j.ID, "a", later()))
	claim(t, s, "a", time.Hour, nth{2, 1})
	claim(t, s, "a", time.Hour, none)
	s = fresh(t, 1)
	for range 3 { // a snooze does not count as an attempt
		j = claim(t, s, "a", time.Hour, nth{1, 1})
		must(t, s.SnoozeJob(t.Context(), j.ID, "a", before()))
	}
	claim(t, s, "a", expired, nth{1, 1})
	j = claim(t, s, "a", time.Hour, nth{1, 2}) // a crash counts
	must(t, s.SnoozeJob(t.Context(), j.ID, "a", before()))
	claim(t, s, "a", time.Hour, nth{1, 2})
}

func wake(t *testing.T, fresh Fresh) {
	s := fresh(t, 2)
	j := claim(t, s, "a", time.Hour, nth{1, 1})
	must(t, s.WakeJob(t.Context(), j.ID)) // it is leased
	must(t, s.SnoozeJob(t.Context(), j.ID, "a", later()))
	claim(t, s, "a", time.Hour, nth{2, 1})
	claim(t, s, "a", time.Hour, none)
	must(t, s.WakeJob(t.Context(), j.ID))
	must(t, s.WakeJob(t.Context(), 1<<40))
	claim(t, s, "b", time.Hour, nth{1, 1})
	must(t, s.WakeJob(t.Context(), j.ID))
	claim(t, s, "c", time.Hour, none)
}

func next(t *testing.T, fresh Fresh) {
	s := fresh(t, 2)
	expect := func(what string, from, to time.Time) {
		t.Helper()
		at, err := s.NextJob(t.Context())
		if err != nil || at.Before(from.Add(-time.Millisecond)) || at.After(to) {
			t.Errorf("%s: the next job is due at %s, want %s to %s: %v", what, at, from, to, err)
		}
	}
	expect("two jobs that are due", time.Time{}, time.Now())
	began := time.Now()
	a := claim(t, s, "a", time.Minute, nth{1, 1})
	claim(t, s, "a", 2*time.Hour, nth{2, 1})
	expect("leased", began.Add(time.Minute), time.Now().Add(time.Minute+time.Millisecond))
	at := later()
	must(t, s.RetryJob(t.Context(), a.ID, "a", at))
	expect("put back", at, at)
	none := fresh(t, 0)
	if at, err := none.NextJob(t.Context()); err != nil || !at.IsZero() {
		t.Errorf("without jobs the next one is due at %s: %v", at, err)
	}
}

func rescue(t *testing.T, fresh Fresh) {
	s := fresh(t, 4)
	claim(t, s, "a", time.Hour, nth{1, 1})
	claim(t, s, "b", expired, nth{2, 1})
	claim(t, s, "b", time.Hour, nth{2, 2})
	j := claim(t, s, "c", time.Hour, nth{3, 1})
	must(t, s.SnoozeJob(t.Context(), j.ID, "c", later()))
	for _, want := range []int{3, 0} {
		if n, err := s.RescueJobs(t.Context()); n != want || err != nil {
			t.Errorf("rescued %d, %v; want %d", n, err, want)
		}
	}
	claim(t, s, "d", time.Hour, nth{1, 2})
	claim(t, s, "d", time.Hour, nth{2, 3})
	claim(t, s, "d", time.Hour, nth{3, 1})
	claim(t, s, "d", time.Hour, nth{4, 1})
}

func neverShared(t *testing.T, fresh Fresh) {
	const claimers, n = 8, 40
	s := fresh(t, n)
	claimed := make([][]deployqueue.Job, claimers)
	var wg sync.WaitGroup
	for i := range claimers {
		wg.Go(func() {
			for {
				j, ok, err := s.ClaimJob(t.Context(), fmt.Sprint("owner", i), time.Hour)
				if err != nil || !ok {
					if err != nil {
						t.Error(err)
					}
					return
				}
				claimed[i] = append(claimed[i], j)
			}
		})
	}
	wg.Wait()
	times := map[svc.Ref]int{}
	for _, list := range claimed {
		for _, j := range list {
			times[j.Ref]++
		}
	}
	for i := 1; i <= n; i++ {
		if times[Ref(i)] != 1 {
			t.Errorf("%s was claimed %d times", Ref(i), times[Ref(i)])
		}
	}
}

func ownerOnly(t *testing.T, fresh Fresh) {
	s := fresh(t, 2)
	lost := claim(t, s, "a", expired, nth{1, 1})
	claim(t, s, "b", time.Hour, nth{1, 2})
	done := claim(t, s, "a", time.Hour, nth{2, 1})
	must(t, s.FinishJob(t.Context(), done.ID, "a"))
	for name, id := range map[string]int64{"taken over": lost.ID, "finished": done.ID, "unknown": 1 << 40} {
		for verb, err := range map[string]error{
			"extend": s.ExtendJob(t.Context(), id, "a", time.Hour),
			"finish": s.FinishJob(t.Context(), id, "a"),
			"retry":  s.RetryJob(t.Context(), id, "a", before()),
			"snooze": s.SnoozeJob(t.Context(), id, "a", before()),
		} {
			if !errors.Is(err, svc.Precondition) {
				t.Errorf("%s a job that is %s: %v, want a failed precondition", verb, name, err)
			}
		}
	}
	claim(t, s, "c", time.Hour, none) // b still holds the first
}
