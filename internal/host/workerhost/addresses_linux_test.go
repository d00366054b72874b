package workerhost

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/svcctl/svcctl/internal/test/svctest"
)

func roles() map[string]svctest.Role { return map[string]svctest.Role{"addresses": changeAddress} }

// TestAddressChanges: a new address wakes the reader, in a network of its own.
func TestAddressChanges(t *testing.T) {
	t.Parallel()
	line := svctest.Command("addresses")
	cmd := exec.CommandContext(t.Context(), line[0], line[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET}
	if os.Geteuid() != 0 { // a network of its own takes root, at least within a user namespace
		cmd.SysProcAttr.Cloneflags |= unix.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// changeAddress gives the loopback interface an address and waits for the message.
func changeAddress(context.Context, []string) error {
	changes, err := addressChanges()
	if err != nil {
		return err
	}
	defer changes.Close()
	if err := setAddress(198, 51, 100, 7); err != nil {
		return fmt.Errorf("setting an address: %w", err)
	}
	if err := changes.SetReadDeadline(time.Now().Add(svctest.Patience)); err != nil {
		return err
	}
	_, err = changes.Read(make([]byte, 8<<10))
	return err
}

func setAddress(ip ...byte) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	if err := lo.SetInet4Addr(ip); err != nil {
		return err
	}
	return unix.IoctlIfreq(fd, unix.SIOCSIFADDR, lo)
}
