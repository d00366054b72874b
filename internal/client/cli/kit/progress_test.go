package kit_test

import (
	"strings"
	"testing"
	"time"
)

// Every stage has one line, also those that were over before anybody looked.
func TestStagesOfThePast(t *testing.T) {
	t.Parallel()
	k, _, errs := newKit(t)
	p := k.NewProgress()
	p.Stage("pending")
	p.Past("fetching", 12*time.Millisecond)
	p.Stage("preparing")
	p.Past("preparing", 2*time.Second)
	p.Past("deploying", 30*time.Millisecond)
	p.Done("")
	lines := strings.Split(strings.TrimSpace(errs.String()), "\n")
	if len(lines) != 4 || !strings.HasPrefix(lines[0], "pending (") || strings.Join(lines[1:], ", ") != "fetching (12ms), preparing (2s), deploying (30ms)" {
		t.Errorf("printed %q", lines)
	}
}
