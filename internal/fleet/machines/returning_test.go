package machines_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/fleet/agent"
	"github.com/svcctl/svcctl/internal/fleet/machines"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// TestReturn: the versions of an earlier daemon wait for their machines until the silence after the
// start of this one has passed, all of them together.
func TestReturn(t *testing.T) {
	t.Parallel()
	const silence = 3 * time.Second
	waited := make(chan string, 100)
	d := newDaemon(t, func(c *machines.Config) {
		c.Silence = silence
		c.Waiting = func(ref svc.Ref, _ string) { waited <- ref.Version }
	})
	began := time.Now()
	s := d.supervise(t)
	d.join(t, 2, nil)
	for _, version := range []string{"v-1", "v-2"} {
		s.open(t, s.lostSpec(t, version))
		if version == "v-1" && time.Since(began) < silence {
			t.Errorf("%s did not wait for its machine", version)
		}
	}
	for range len(waited) {
		if version := <-waited; version != "v-1" {
			t.Errorf("%s has waited, too", version)
		}
	}
}

// onNodes is a Policy of machines that are pods: the lost one was alone on its node, or not.
type onNodes struct {
	machines.Policy

	lost string // the node of the machine that does not return
}

func (p onNodes) Node(machine string) string {
	if machine == "lost" {
		return p.lost
	}
	return "here"
}

// lostSpec returns the spec of a version that an earlier daemon had on a machine which is lost.
func (s *supervised) lostSpec(t *testing.T, version string) svc.RuntimeSpec {
	t.Helper()
	spec := s.spec(t, version)
	err := errors.Join(os.MkdirAll(spec.Local.DataDir, 0o700), os.WriteFile(filepath.Join(spec.Local.DataDir, "machine.json"), []byte(`{"machine":"lost","session":"lost"}`), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// TestVanished: after a daemon that has vanished, the versions of a lost node wait until the permits of
// that daemon have ended and other machines have joined, not for the silence.
func TestVanished(t *testing.T) {
	t.Parallel()
	const inherited = 3 * time.Second
	began := time.Now()
	d := newDaemon(t, func(c *machines.Config) {
		c.Silence = svctest.Patience
		c.Policy, c.Vanished, c.Inherited = onNodes{c.Policy, "there"}, true, began.Add(inherited)
	})
	s := d.supervise(t)
	spec := s.lostSpec(t, "v-1")
	d.join(t, 1, nil)
	s.open(t, spec)
	if took := time.Since(began); took < inherited || took > svctest.Patience/2 {
		t.Errorf("it was opened elsewhere after %s", took)
	}
}

// TestRan: a version that ran when this daemon began, but whose machine nothing is known of, waits until
// the permits of the daemon before have ended. Another version does not.
func TestRan(t *testing.T) {
	t.Parallel()
	const inherited = 3 * time.Second
	began := time.Now()
	d := newDaemon(t, func(c *machines.Config) {
		c.Inherited = began.Add(inherited)
		c.Ran = func(ref svc.Ref) bool { return ref.Version == "v-1" }
	})
	s := d.supervise(t)
	d.join(t, 2, nil)
	spec := s.spec(t, "v-1")
	ran := s.opening(t, spec)
	svctest.Eventually(t, "the version to wait", func() bool { return d.Waiting() == 1 })
	s.open(t, s.spec(t, "v-2"))
	if err := svctest.Wait(t, "the version", ran); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took < inherited {
		t.Errorf("it was opened after %s", took)
	}
}

// claimedBy is a Policy of pods that a version has claimed.
type claimedBy struct {
	onNodes

	pods []string
}

func (p claimedBy) Has(svc.Ref) []string { return p.pods }

// TestClaimedTwice: a pod that a version had before it was lost once is still claimed for it. When that has joined
// without the version, a new daemon waits for the other one until the permits have ended.
func TestClaimedTwice(t *testing.T) {
	t.Parallel()
	const inherited = 3 * time.Second
	began := time.Now()
	d := newDaemon(t, func(c *machines.Config) {
		c.Silence = svctest.Patience
		c.Policy, c.Vanished, c.Inherited = claimedBy{onNodes{c.Policy, "there"}, []string{"back", "lost"}}, true, began.Add(inherited)
	})
	s := d.supervise(t)
	spec := s.spec(t, "v-1")
	opened := s.opening(t, spec)
	svctest.Eventually(t, "the version to wait", func() bool { return d.Waiting() == 1 })
	d.join(t, 1, func(c *agent.Config) { c.Machine = "back" })
	if err := svctest.Wait(t, "the version", opened); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took < inherited || took > svctest.Patience/2 {
		t.Errorf("it was opened elsewhere after %s", took)
	}
}

// TestClaimedTwiceUnseen: of two machines that a version has claimed and that have not joined, the one whose node
// is there is waited for, although the node of the other is lost.
func TestClaimedTwiceUnseen(t *testing.T) {
	t.Parallel()
	for _, claimed := range [][]string{{"lost", "late"}, {"late", "lost"}} {
		t.Run(strings.Join(claimed, ","), func(t *testing.T) {
			t.Parallel()
			const silence = 4 * time.Second
			began := time.Now()
			d := newDaemon(t, func(c *machines.Config) {
				c.Silence, c.Policy, c.Vanished = silence, claimedBy{onNodes{c.Policy, "there"}, claimed}, true
			})
			s := d.supervise(t)
			spec := s.spec(t, "v-1")
			opened := s.opening(t, spec)
			d.join(t, 1, nil)
			if err := svctest.Wait(t, "the version", opened); err != nil {
				t.Error(err)
			}
			if took := time.Since(began); took < silence {
				t.Errorf("it was opened elsewhere after %s", took)
			}
		})
	}
}

// TestNotMissing: a version waits for its machine for the whole silence if the daemon before has not
// vanished, if another machine of its node has joined, and if none has joined at all.
func TestNotMissing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		vanished, joins bool
		node            string
	}{
		"an orderly end":                  {false, true, "there"},
		"another one of its node is here": {true, true, "here"},
		"no machine finds this daemon":    {true, false, "there"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const silence = 4 * time.Second
			d := newDaemon(t, func(f *machines.Config) {
				f.Silence, f.Policy, f.Vanished = silence, onNodes{f.Policy, c.node}, c.vanished
			})
			began := time.Now()
			s := d.supervise(t)
			spec := s.lostSpec(t, "v-1")
			opened := s.opening(t, spec)
			if !c.joins {
				<-time.After(silence - time.Second/2) // too late for a pause
			}
			d.join(t, 1, nil)
			if err := svctest.Wait(t, "the version", opened); err != nil {
				t.Error(err)
			}
			if took := time.Since(began); took < silence {
				t.Errorf("it was opened elsewhere after %s", took)
			}
		})
	}
}
