package cputime_test

import (
	"os"
	"testing"

	"github.com/svcctl/svcctl/internal/lib/cputime"
)

func TestOf(t *testing.T) {
	t.Parallel()
	before := cputime.Of(os.Getpid())
	for cputime.Of(os.Getpid()) == before {
	}
	if got := cputime.Of(1 << 22); got != 0 { // beyond the highest pid
		t.Errorf("a process that does not exist has used %s", got)
	}
}
