package svctest

import (
	"errors"
	"testing"
	"time"
)

// Patience is when a test that waits for an event fails. It is longer than
// anything takes on a busy machine.
const Patience = 4 * time.Minute

// maxPause is the longest pause between two looks. One that takes long is repeated less often: it
// takes the processor from what it waits for.
const maxPause = 50 * time.Millisecond

func patience() *time.Timer { return time.NewTimer(Patience) }

// Wait waits until event gives a value or is closed, and returns the value. It
// fails the test after [Patience].
func Wait[T any](t testing.TB, what string, event <-chan T) (v T) {
	t.Helper()
	late := patience()
	defer late.Stop()
	select {
	case v = <-event:
	case <-late.C:
		t.Fatalf("waited %v for: %s", Patience, what)
	}
	return v
}

// Eventually polls until ok is true. It is for state without an event: of other
// processes, of the kernel. It fails the test after [Patience].
func Eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	Succeeds(t, what, func() error {
		if !ok() {
			return errors.New("no")
		}
		return nil
	})
}

// Succeeds polls like [Eventually] until try returns nil, and fails with its last
// error.
func Succeeds(t testing.TB, what string, try func() error) {
	t.Helper()
	late := patience()
	defer late.Stop()
	for pause := time.Millisecond; ; pause = min(2*pause, 8*time.Millisecond) {
		began := time.Now()
		err := try()
		if err == nil {
			return
		}
		select {
		case <-time.After(max(pause, min(2*time.Since(began), maxPause))):
		case <-late.C:
			t.Fatalf("waited %v for: %s: %v", Patience, what, err)
		}
	}
}
