package machines_test

import (
	"context"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/fleet/agent"
	"github.com/svcctl/svcctl/internal/fleet/machines"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// wanting is a Policy that remembers how many more spares were wanted.
type wanting struct {
	machines.Policy

	want chan int
}

func (p wanting) Want(more int) { p.want <- more }

// wants has a fleet ask for spares by the returned channel.
func wants(c *machines.Config) chan int {
	p := wanting{c.Policy, make(chan int, 100)}
	c.Policy = p
	return p.want
}

// until waits until n more spares are wanted.
func until(t *testing.T, want <-chan int, n int) {
	t.Helper()
	for svctest.Wait(t, "another number of spares", want) != n {
	}
}

// TestWant: more spares are wanted for versions that wait, without those that get one; and none when all
// have one.
func TestWant(t *testing.T) {
	t.Parallel()
	var want <-chan int
	d := newDaemon(t, func(c *machines.Config) { c.Silence, want = svctest.Patience, wants(c) })
	s := d.supervise(t)
	opened := make(chan error, 2)
	for _, version := range []string{"v-1", "v-2"} {
		spec := s.spec(t, version)
		go func() { opened <- s.Open(t.Context(), spec) }()
	}
	until(t, want, 2)
	d.join(t, 1, nil)
	until(t, want, 1)
	d.join(t, 1, nil)
	until(t, want, 0)
	for range cap(opened) {
		if err := svctest.Wait(t, "a version", opened); err != nil {
			t.Error(err)
		}
	}
	if len(want) > 0 {
		t.Errorf("then %d were wanted", <-want)
	}
}

// TestSuspect: a spare is wanted for the version of a machine that has been silent for three fifths of the
// time after which it is lost, and no more when the machine answers again.
func TestSuspect(t *testing.T) {
	t.Parallel()
	const silence = 15 * time.Second // enough for a busy machine to answer again in time
	var want <-chan int
	d := newDaemon(t, func(c *machines.Config) { c.Silence, want = silence, wants(c) })
	cable := newCable(t, d.addr)
	s := d.supervise(t)
	d.join(t, 1, func(c *agent.Config) { c.Daemon = cable.addr })
	e := s.open(t, s.spec(t, "v-1"))
	for len(want) > 0 { // of the open
		<-want
	}
	began := time.Now()
	cable.pull()
	until(t, want, 1)
	if took := time.Since(began); took >= silence {
		t.Errorf("it was wanted after %s", took)
	}
	cable.plug()
	until(t, want, 0)
	s.want(t, e)
}

// TestWantAtTakeover: a spare is wanted for the version of a node that does not return after the daemon before
// has vanished, while its permits are valid: also for one whose pod is known by its claim alone.
func TestWantAtTakeover(t *testing.T) {
	t.Parallel()
	var want <-chan int
	d := newDaemon(t, func(c *machines.Config) {
		c.Silence, c.Vanished, c.Inherited = svctest.Patience, true, time.Now().Add(svctest.Patience)
		c.Policy = claimedBy{onNodes{c.Policy, "there"}, []string{"lost"}}
		c.Ran = func(svc.Ref) bool { return true }
		want = wants(c)
	})
	s := d.supervise(t)
	ctx, cancel := context.WithCancel(t.Context())
	opened := make(chan error, 2)
	for _, spec := range []svc.RuntimeSpec{s.spec(t, "v-1"), s.lostSpec(t, "v-2")} {
		go func() { opened <- s.Open(ctx, spec) }()
	}
	svctest.Eventually(t, "the versions to wait", func() bool { return d.Waiting() == 2 })
	d.join(t, 1, nil)
	until(t, want, 1) // one has joined
	cancel()
	for range cap(opened) {
		if err := svctest.Wait(t, "the end", opened); err == nil {
			t.Error("a version was opened while permits are valid")
		}
	}
}
