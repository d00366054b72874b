package cputime_test

import (
	"os"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/lib/cputime"
)

func TestThread(t *testing.T) {
	t.Parallel()
	before, ok := cputime.ThreadOf(os.Getpid())
	if !ok {
		t.Fatal("nothing is counted")
	}
	for name, c := range map[string]struct {
		written, waits int64
		waiting, want  bool
	}{
		"500 Durable Objects are made": {40 << 20, 11000, false, true},
		"one large commit":             {100 << 20, 2000, false, true},
		"a loop":                       {0, 0, false, false},
		"a loop that logs to a pipe":   {0, 500, false, false},
		"a loop of SQL":                {100 << 20, 20, false, false},
		"one slow sync":                {0, 0, true, true},
	} {
		after := cputime.Thread{Written: before.Written + c.written, Waits: before.Waits + c.waits, Waiting: c.waiting}
		if after.OnDisk(before) != c.want {
			t.Errorf("%s: want %t", name, c.want)
		}
	}
	if before.Ran <= 0 {
		t.Error("the time on a processor is not counted")
	}
	if after := before; after.Starved(before, 0) {
		t.Error("a thread that does nothing starves")
	}
	after := before
	after.Ran, after.Queued = after.Ran+time.Second, after.Queued+2*time.Second
	if !after.Starved(before, 3*time.Second) {
		t.Error("a thread that waits for longer than it runs does not starve")
	}
	if after.Starved(before, time.Minute) {
		t.Error("a thread that slept most of the time starves")
	}
	if _, ok := cputime.ThreadOf(1 << 22); ok { // beyond the highest pid
		t.Error("a process that does not exist has done something")
	}
}
