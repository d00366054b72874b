package workerdtest

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"testing"

	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestMain(m *testing.M) {
	svctest.Main(m, map[string]svctest.Role{"parent": parent})
}

// parent starts a child that does not end by itself, and waits for it.
func parent(context.Context, []string) error {
	cmd := command("/bin/sleep", "3600")
	cmd.Stdout = os.Stdout // open until the child has ended
	if err := cmd.Start(); err != nil {
		return err
	}
	fmt.Println("READY")
	return cmd.Wait()
}

// TestCommandEndsWithItsParent kills the parent of a process that ends by nothing else.
func TestCommandEndsWithItsParent(t *testing.T) {
	t.Parallel()
	p := svctest.Start(t, "parent")
	if !p.Await(t, "READY") {
		t.Fatalf("the parent ended: %s", p.Stderr())
	}
	p.Signal(syscall.SIGKILL)
	svctest.Wait(t, "the child ends, and closes the output", p.Ended())
}
