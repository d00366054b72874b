package boot_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/lib/boot"
)

// child is the environment variable of a process that prints the id and ends.
const child = "SVCCTL_BOOT_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(child) == "" {
		os.Exit(m.Run())
	}
	id, err := boot.ID()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Fprintln(os.Stdout, id)
}

// TestID: two processes of one boot read the same id, which is not empty.
func TestID(t *testing.T) {
	t.Parallel()
	id, err := boot.ID()
	if err != nil || id == "" {
		t.Fatalf("ID() = %q, %v", id, err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), child+"=1")
	cmd.Stderr = t.Output()
	out, err := cmd.Output()
	if got := strings.TrimSpace(string(out)); err != nil || got != id {
		t.Fatalf("another process read %q, %v; this one %q", got, err, id)
	}
}
