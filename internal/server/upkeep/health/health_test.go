package health_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/internal/data/dirstore"
	"github.com/svcctl/svcctl/internal/server/upkeep/health"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestMain(m *testing.M) { svctest.Main(m, nil) }

// TestPing: the error has exactly the failed checks.
// spec: [C11.4]
func TestPing(t *testing.T) {
	t.Parallel()
	fails := map[string]bool{}
	part := func(name string) *health.Check {
		return &health.Check{Name: name, Run: func(context.Context) error {
			if fails[name] {
				return errors.New("it is down")
			}
			return nil
		}}
	}
	checks := health.Checks{part("data"), part("records"), part("lease")}
	for _, tc := range []struct {
		fails map[string]bool
		want  string
	}{
		{nil, ""},
		{map[string]bool{"records": true}, "records: it is down"},
		{map[string]bool{"lease": true, "data": true}, "data: it is down\nlease: it is down"},
		{nil, ""},
	} {
		fails = tc.fails
		got := ""
		if err := checks.Ping(t.Context()); err != nil {
			got = err.Error()
		}
		if got != tc.want {
			t.Errorf("%v: %q, want %q", tc.fails, got, tc.want)
		}
	}
}

// TestPingBlockedCheck: a check that ignores its context is an error when the caller's
// context ends, does not hide other errors, and has one execution at a time.
func TestPingBlockedCheck(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		asked, back := atomic.Int32{}, make(chan struct{})
		checks := health.Checks{
			{Name: "records", Run: func(context.Context) error { asked.Add(1); <-back; return nil }},
			{Name: "data", Run: func(context.Context) error { return errors.New("it is down") }},
		}
		for range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			err := checks.Ping(ctx)
			cancel()
			if want := "records: no answer: context deadline exceeded\ndata: it is down"; err == nil || err.Error() != want {
				t.Errorf("Ping: %v", err)
			}
		}
		if n := asked.Load(); n != 1 {
			t.Errorf("the check ran %d times", n)
		}
		close(back)
		if err := checks[:1].Ping(t.Context()); err != nil {
			t.Errorf("after its end: %v", err)
		}
	})
}

// TestLimit: the limit ends a check for a caller without a deadline.
func TestLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		checks := health.Checks{{Name: "data", Run: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }}}
		if err := checks.Ping(t.Context()); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 3*time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}

// TestDirectory: the check fails for a moved or replaced directory.
func TestDirectory(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "records")
	bucket, err := dirstore.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { bucket.Close() })
	ask, err := health.Directory(dir, bucket)
	if err != nil {
		t.Fatal(err)
	}
	if err := ask(t.Context()); err != nil {
		t.Error(err)
	}
	if err := os.Rename(dir, dir+"-moved"); err != nil {
		t.Fatal(err)
	}
	if err := ask(t.Context()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after it was moved: %v", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := ask(t.Context()); err == nil {
		t.Error("another directory is accepted")
	}
	if _, err := health.Directory(dir+"-none", bucket); err == nil {
		t.Error("a directory that is missing is accepted")
	}
}

func TestLease(t *testing.T) {
	t.Parallel()
	for age, want := range map[time.Duration]string{
		15 * time.Second:       "",
		15*time.Second + 1e6*2: "host lease expired: last renewed 15.002s ago, TTL 15s",
	} {
		err := health.Lease(func() time.Duration { return age }, 15*time.Second)(t.Context())
		if (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("at %s: %v", age, err)
		}
	}
}

// TestLag: a lag above the limit of the settings is an error.
func TestLag(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		sync            bool
		window          time.Duration
		allowed, behind time.Duration // allowed by the runtimes; too much
	}{
		{false, 10 * time.Millisecond, 1020 * time.Millisecond, 12 * time.Second},
		{false, time.Second, 3 * time.Second, 14 * time.Second},
		{false, 30 * time.Second, 61 * time.Second, 72 * time.Second},
		{false, time.Minute, 121 * time.Second, 132 * time.Second},
		{true, time.Minute, 5 * time.Second, 16 * time.Second},
	} {
		r := svc.Runtime{Ref: svc.Ref{Project: "shop", Version: "v1"}, State: svc.RuntimeServing}
		ask := health.Lag(func() []svc.Runtime { return []svc.Runtime{r} }, health.LagLimit(tc.sync, tc.window))
		for behind, want := range map[time.Duration]string{0: "", tc.allowed + 5*time.Second: "", tc.behind: svc.CodeDataBehind} {
			r.Behind = behind
			if err := ask(t.Context()); svc.CodeOf(err) != want {
				t.Errorf("sync %v, %s: %s behind: %v", tc.sync, tc.window, behind, err)
			}
		}
		r.State = svc.RuntimeBackoff // its lag is outdated
		if err := ask(t.Context()); err != nil {
			t.Errorf("a runtime that does not serve: %v", err)
		}
	}
}
