package branch_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/s3"
	"github.com/svcctl/svcctl/internal/data/s3/s3fault"
	"github.com/svcctl/svcctl/internal/data/s3/s3test"
	"github.com/svcctl/svcctl/internal/svc"
)

func TestMain(m *testing.M) { s3test.Main(m, nil) }

// network returns a real object store, and the same behind a network that loses
// one request in five in every way but stale listings, which the contract excludes.
func network(t *testing.T) (direct, lossy *s3.Bucket, p *s3fault.Proxy) {
	t.Helper()
	target := s3test.Target(t)
	direct, prefix := s3test.Bucket(t, target)
	p = s3fault.Start(t, target.Endpoint)
	target.Endpoint, target.AnswerTimeout = p.Endpoint(), 500*time.Millisecond
	store, err := s3.New(target)
	if err != nil {
		t.Fatal(err)
	}
	kinds := s3fault.All()
	p.Set(s3fault.Faults{Rate: .2, Seed: 1, Kinds: kinds[:len(kinds)-1], Slow: 20 * time.Millisecond, Delay: 50 * time.Millisecond})
	t.Cleanup(func() {
		c := p.Counts()
		t.Logf("%d faults in %d requests: %v", c.Injected(), c.Total(), c.Faults)
		if c.Total() == 0 {
			t.Error("nothing went over the network")
		}
	})
	return direct, store.Bucket(s3test.BucketName(), prefix), p
}

func over(t *testing.T, b objstore.Bucket, ttl time.Duration) *branch.Store {
	t.Helper()
	s, err := branch.New(branch.Config{Data: b, LeaseTTL: ttl, Grace: 4 * ttl, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestForkRace: of many forks into one child one wins, all agree which, and a retry
// of the winner succeeds.
func TestForkRace(t *testing.T) {
	t.Parallel()
	direct, lossy, _ := network(t)
	f := write(t, direct, "v1", 0, 1, 1)
	s := over(t, lossy, time.Second)
	const competitors = 8
	errs := make([]error, competitors)
	attempt := func(i int) error {
		_, err := s.Fork(t.Context(), branch.Fork{
			Parent: ref("v1"), Child: ref("v2"), ID: fmt.Sprint(i), At: time.UnixMilli(1e12),
			Cuts: map[string]branch.Cut{"main": {Kind: "d1", PageSize: 4096, TXID: 1, Files: []branch.File{f}}},
		})
		return err
	}
	var wg sync.WaitGroup
	for i := range competitors {
		wg.Go(func() { errs[i] = attempt(i) })
	}
	wg.Wait()
	m, err := over(t, direct, time.Second).Load(t.Context(), ref("v2"))
	if err != nil || m == nil {
		t.Fatal(m, err)
	}
	for i, err := range errs {
		if won := m.ForkID == fmt.Sprint(i); won && err != nil || !won && svc.CodeOf(err) != "branch_exists" {
			t.Errorf("competitor %d of winner %s: %v", i, m.ForkID, err)
		}
		if again := attempt(i); (again == nil) != (err == nil) {
			t.Errorf("competitor %d retries: %v", i, again)
		}
	}
}

// TestOwnersTakeTurns: nodes that acquire one version get it one after another,
// with an epoch each, whatever answers are lost.
func TestOwnersTakeTurns(t *testing.T) {
	t.Parallel()
	direct, lossy, p := network(t)
	const nodes, turns = 3, 2
	var mu sync.Mutex
	epochs := map[uint64]string{}
	var wg sync.WaitGroup
	for i := range nodes {
		wg.Go(func() {
			s, o := over(t, lossy, 5*time.Second), svc.Owner{Node: fmt.Sprint("h", i), Session: "s"}
			lease, err := s.Hold(t.Context(), o)
			if err != nil {
				t.Error(err)
				return
			}
			for range turns {
				g, err := s.Acquire(t.Context(), ref("v"), o, "")
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				if other, taken := epochs[g.Epoch]; taken {
					t.Errorf("epoch %d was given to %s and to %s", g.Epoch, other, o.Node)
				}
				epochs[g.Epoch] = o.Node
				mu.Unlock()
				if err := s.Release(t.Context(), g); err != nil {
					t.Error(err)
				}
			}
			if err := lease.Stop(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	p.Wait()
	r, err := over(t, direct, time.Second).Record(t.Context(), ref("v"))
	if err != nil || r.Epoch != nodes*turns || len(epochs) != nodes*turns || r.Owner != "" {
		t.Errorf("%d epochs were given, the record says %+v, %v", len(epochs), r, err)
	}
}

// TestTakeoverOverTheNetwork: Acquire waits for a node whose lease is not renewed
// any more, and no longer than for the TTL.
func TestTakeoverOverTheNetwork(t *testing.T) {
	t.Parallel()
	_, lossy, _ := network(t)
	s, a, b := over(t, lossy, 3*time.Second), svc.Owner{Node: "a", Session: "1"}, svc.Owner{Node: "b", Session: "2"}
	life, die := context.WithCancel(t.Context())
	if _, err := s.Hold(life, a); err != nil {
		t.Fatal(err)
	}
	old, err := s.Acquire(t.Context(), ref("v"), a, "")
	if err != nil {
		t.Fatal(err)
	}
	die()
	begin := time.Now()
	g, err := s.Acquire(t.Context(), ref("v"), b, "")
	if took := time.Since(begin); err != nil || g.Epoch != 2 || !g.TakenOver || took < 3*time.Second {
		t.Errorf("%+v, %v after %v", g, err, took)
	}
	if err := s.Holds(t.Context(), old); !errors.Is(err, branch.ErrLost) {
		t.Errorf("the old owner: %v", err)
	}
}

// TestSweepOverTheNetwork: pinned files stay and the others are deleted, in however
// many attempts.
func TestSweepOverTheNetwork(t *testing.T) {
	t.Parallel()
	direct, lossy, p := network(t)
	setup, s := over(t, direct, 50*time.Millisecond), over(t, lossy, 50*time.Millisecond)
	acquire(t, setup, "v1")
	var files []branch.File
	for txid := range uint64(12) {
		files = append(files, write(t, direct, "v1", 0, txid+1, txid+1))
	}
	fork(t, setup, "v1", "v2", 5, files[:5]...)
	acquire(t, setup, "v2")
	own := write(t, direct, "v2", 0, 6, 6)
	for err := s.Destroy(t.Context(), ref("v1")); err != nil; err = s.Destroy(t.Context(), ref("v1")) {
		if t.Context().Err() != nil {
			t.Fatal(err)
		}
	}
	for left := len(files); left > 5; {
		r, err := s.Sweep(t.Context(), "p", branch.SweepOptions{})
		if err == nil && len(r.Broken) > 0 {
			t.Fatalf("broken: %v", r.Broken)
		}
		left = 0
		for _, f := range files {
			if has(t, direct, f) {
				left++
			}
		}
	}
	p.Wait()
	for _, f := range append(files[:5:5], own) {
		if !has(t, direct, f) {
			t.Errorf("%s was needed", f.Key())
		}
	}
}
