package replica_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/s3/s3test"
	"github.com/svcctl/svcctl/internal/svc"
)

func newBranches(t testing.TB, b objstore.Bucket, grace time.Duration) *branch.Store {
	t.Helper()
	s, err := branch.New(branch.Config{Data: b, Grace: grace, LeaseTTL: grace / 4, Logger: slog.New(slog.DiscardHandler)})
	must(t, err)
	return s
}

// claim makes the record of a version.
func claim(t testing.TB, s *branch.Store, version string) {
	t.Helper()
	_, err := s.Acquire(t.Context(), ref(version), svc.Owner{Node: "h", Session: "s"}, "")
	must(t, err)
}

// sweepAll sweeps until nothing waits, and returns the number of deleted files.
func sweepAll(t testing.TB, s *branch.Store) (gone int) {
	t.Helper()
	for {
		r, err := s.Sweep(t.Context(), "p", branch.SweepOptions{})
		must(t, err)
		if len(r.Broken) > 0 {
			t.Fatalf("broken: %v", r.Broken)
		}
		gone += len(r.Gone)
		if len(r.Waiting) == 0 {
			return gone
		}
		time.Sleep(r.Waiting[0].Left)
	}
}

// bucket is a bucket in memory or, with make test-s3, in the real object store.
func bucket(t testing.TB) objstore.Bucket {
	t.Helper()
	if !s3test.External() {
		return new(memstore.Bucket)
	}
	b, _ := s3test.Bucket(t, s3test.Target(t))
	return b
}
