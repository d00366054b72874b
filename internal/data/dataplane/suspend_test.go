package dataplane_test

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/s3/s3fault"
	"github.com/svcctl/svcctl/internal/data/s3/s3test"
)

// TestSuspendedWhileTheStoreIsAway: a process that was suspended, and whose object store does not answer
// afterwards, cannot know whether it still owns the data: it answers nothing until it knows.
func TestSuspendedWhileTheStoreIsAway(t *testing.T) {
	t.Parallel()
	store := s3test.Start(t, s3test.Command())
	p := &hostRole{Prefix: "suspended/", Dir: t.TempDir(), Node: "a", Life: 1, Lease: 4 * time.Second, Window: shortWindow, Stores: 1, Readers: 2}
	l := p.start(t, store.Through)
	if !l.AwaitNext(t, "SAW") {
		t.Fatal("it ended by itself")
	}
	l.Signal(syscall.SIGSTOP)
	time.Sleep(2500 * time.Millisecond) // more than half of the lease
	store.Way.Set(s3fault.Faults{Latency: time.Hour})
	woken := time.Now().UnixNano()
	l.Signal(syscall.SIGCONT)
	for range 3 {
		if !l.AwaitNext(t, "REFUSED") {
			t.Fatal("it ended by itself")
		}
	}
	refused := time.Now().UnixNano()
	store.Way.Set(s3fault.Faults{})
	if !l.AwaitNext(t, "SAW") {
		t.Fatal("it ended by itself")
	}
	l.Kill()
	said := listen(t, l)
	for _, a := range said.seen {
		if a.began > woken && a.began < refused {
			t.Errorf("it served %+v, %v after the suspension", a, time.Duration(a.began-woken))
		}
	}
	if got := strings.Join(said.refused, " "); strings.Trim(strings.ReplaceAll(got, "data_unconfirmed", ""), " ") != "" {
		t.Errorf("it said %s", got)
	}
}
