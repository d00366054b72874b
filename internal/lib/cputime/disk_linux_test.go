package cputime_test

import (
	"os"
	"testing"

	"github.com/svcctl/svcctl/internal/lib/cputime"
)

func TestDisk(t *testing.T) {
	t.Parallel()
	before, ok := cputime.DiskOf(os.Getpid())
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
		after := cputime.Disk{Written: before.Written + c.written, Waits: before.Waits + c.waits, Waiting: c.waiting}
		if after.Since(before) != c.want {
			t.Errorf("%s: want %t", name, c.want)
		}
	}
	if _, ok := cputime.DiskOf(1 << 22); ok { // beyond the highest pid
		t.Error("a process that does not exist has done something")
	}
}
