package failpoint_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestHit runs a program built with and without the tag.
func TestHit(t *testing.T) {
	t.Parallel()
	on := build(t, "-tags=failpoint")
	off := build(t)
	for _, tc := range []struct {
		name, prog, env string
		killed          bool
		out             string
	}{
		{"first hit", on, "test/place", true, "hit 1"},
		{"third hit", on, "test/place:3", true, "hit 1,hit 2,hit 3"},
		{"never reached", on, "test/place:4", false, "hit 1,hit 2,hit 3,end"},
		{"another name", on, "test/plac", false, "hit 1,hit 2,hit 3,end"},
		{"malformed count", on, "test/place:x", false, "hit 1,hit 2,hit 3,end"},
		{"not armed", on, "", false, "hit 1,hit 2,hit 3,end"},
		{"ordinary build", off, "test/place", false, "hit 1,hit 2,hit 3,end"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), tc.prog)
			cmd.Env = append(os.Environ(), "SVC_FAILPOINT="+tc.env)
			out, err := cmd.Output()
			if got := strings.ReplaceAll(strings.TrimSpace(string(out)), "\n", ","); got != tc.out {
				t.Errorf("printed %q, want %q", got, tc.out)
			}
			if got := killed(err); got != tc.killed {
				t.Errorf("killed = %v (%v), want %v", got, err, tc.killed)
			}
		})
	}
}

func build(t *testing.T, flags ...string) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "prog")
	args := append(append([]string{"build", "-o", bin}, flags...), "./testdata/prog")
	if out, err := exec.CommandContext(t.Context(), "go", args...).CombinedOutput(); err != nil {
		t.Fatalf("go %v: %v\n%s", args, err, out)
	}
	return bin
}

func killed(err error) bool {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return false
	}
	ws, ok := exit.Sys().(syscall.WaitStatus)
	return ok && ws.Signaled() && ws.Signal() == syscall.SIGKILL
}
