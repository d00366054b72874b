package hostmain

import (
	"cmp"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// TestCounts: requests are counted by operation and result, and given once.
func TestCounts(t *testing.T) {
	t.Parallel()
	var c counts
	if got := c.take(); len(got) != 0 {
		t.Errorf("at first: %+v", got)
	}
	c.add("get", "ok", time.Second)
	c.add("get", "ok", 2*time.Second)
	c.add("get", "error", time.Second)
	got := c.take()
	slices.SortFunc(got, func(a, b svc.RequestCount) int { return cmp.Compare(a.Result, b.Result) })
	want := []svc.RequestCount{{Op: "get", Result: "error", N: 1, Took: time.Second}, {Op: "get", Result: "ok", N: 2, Took: 3 * time.Second}}
	if !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := c.take(); len(got) != 0 {
		t.Errorf("given twice: %+v", got)
	}
}

// TestWorkerdEnv: workerd, whose environment workers can read, gets no variable but those that it needs.
func TestWorkerdEnv(t *testing.T) {
	t.Parallel()
	got := workerdEnv([]string{"PATH=/bin", "HTTPS_PROXY=http://user:secret@proxy", "SVC_ADMIN_TOKEN=x", "HOME=/home/a", "PATHS=no", "TMPDIR=/tmp", "broken"})
	if want := []string{"PATH=/bin", "HOME=/home/a", "TMPDIR=/tmp"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestRaiseFileLimit: the soft limit of open files is the hard one after it.
func TestRaiseFileLimit(t *testing.T) {
	t.Parallel()
	var limit syscall.Rlimit
	if err := raiseFileLimit(); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur != limit.Max {
		t.Errorf("%+v, %v", limit, err)
	}
}
