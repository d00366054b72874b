package dataplane_test

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/s3/s3fault"
	"github.com/svcctl/svcctl/internal/s3/s3test"
	"github.com/svcctl/svcctl/internal/torturetest"
)

// A process that was suspended, and whose store does not answer when it goes on,
// cannot know whether the data is another's by now: it answers nothing until it
// does.
func TestSuspendedWhileTheStoreIsAway(t *testing.T) {
	t.Parallel()
	store := torturetest.Start(t, s3test.Command())
	p := &prey{Prefix: "suspended/", Dir: t.TempDir(), Host: "a", Life: 1, Lease: 4 * time.Second, Window: shortWindow, Stores: 1, Readers: 2}
	l := p.start(t, store.Through)
	if !l.await(t, "SAW", time.Minute) {
		t.Fatal("it ended by itself")
	}
	l.signal(syscall.SIGSTOP)
	time.Sleep(2500 * time.Millisecond) // more than half of the lease: it may be another's soon
	store.Way.Set(s3fault.Faults{Latency: time.Hour})
	woken := time.Now().UnixNano()
	l.signal(syscall.SIGCONT)
	for range 3 {
		if !l.await(t, "REFUSED", time.Minute) {
			t.Fatal("it ended by itself")
		}
	}
	refused := time.Now().UnixNano()
	store.Way.Set(s3fault.Faults{})
	if !l.await(t, "SAW", time.Minute) {
		t.Fatal("it ended by itself")
	}
	l.kill()
	said := l.listen(t)
	for _, a := range said.seen {
		if a.began > woken && a.began < refused {
			t.Errorf("it served %+v, %v after it had been suspended", a, time.Duration(a.began-woken))
		}
	}
	if got := strings.Join(said.refused, " "); strings.Trim(strings.ReplaceAll(got, "data_unconfirmed", ""), " ") != "" {
		t.Errorf("it said %s", got)
	}
}
