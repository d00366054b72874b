package supervisor

import (
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/fleet/driver"
	"github.com/svcctl/svcctl/internal/lib/cputime"
)

// worker is a process whose main thread does what a test says.
type worker struct {
	driver.Host
	did cputime.Thread
}

func (w *worker) Thread() (cputime.Thread, bool) { return w.did, true }

// TestSilence: the time on a processor of a thread that waits for the disk is not that of a loop,
// also when the thread gets no processor afterwards.
func TestSilence(t *testing.T) {
	t.Parallel()
	var s silence
	var w worker
	next := func(ran, queued time.Duration, written int64) bool {
		w.did.Ran, w.did.Queued = w.did.Ran+ran, w.did.Queued+queued
		w.did.Written, w.did.Waits = w.did.Written+written, w.did.Waits+written/4096
		s.asked = time.Now().Add(-ran - queued) // so much time has passed
		return s.excused(&w, time.Second, time.Minute)
	}
	if next(0, 0, 0) {
		t.Error("the first ping without an answer has nothing to compare with")
	}
	for range 40 {
		if !next(30*time.Millisecond, 100*time.Millisecond, 40<<12) {
			t.Fatal("a thread that waits for the disk is in a loop")
		}
	}
	starved := 0
	for next(30*time.Millisecond, 220*time.Millisecond, 0) {
		starved++
	}
	if starved != 33 { // 33 times 30 ms are less than a second
		t.Errorf("a loop that gets no processor is found after %d pings", starved)
	}
}
