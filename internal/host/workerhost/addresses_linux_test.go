package workerhost

import (
	"os/exec"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestAddressChanges: a new address wakes the reader, in a network of its own.
func TestAddressChanges(t *testing.T) {
	t.Parallel()
	ip, err := exec.LookPath("ip")
	if err != nil {
		t.Skip("this machine has no ip command")
	}
	runtime.LockOSThread() // and the thread ends with the test
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		t.Skipf("a network of its own needs root: %v", err)
	}
	changes, err := addressChanges()
	if err != nil {
		t.Fatal(err)
	}
	defer changes.Close()
	if out, err := exec.CommandContext(t.Context(), ip, "addr", "add", "198.51.100.7/32", "dev", "lo").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := changes.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if n, err := changes.Read(make([]byte, 8<<10)); err != nil || n == 0 {
		t.Errorf("read %d bytes: %v", n, err)
	}
}
