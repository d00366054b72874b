//go:build power && linux

package svctest

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// Disk is a filesystem whose power a test can cut. What that means: the filesystem writes nothing more,
// neither data nor the journal that it has in memory, and every call that would fails. What was synced
// is there after the next mount; of all else, what the kernel had happened to write. Two losses are not
// simulated: a disk that has promised to keep what its cache loses, and sectors of which it wrote a part.
// It needs root.
type Disk struct {
	Dir string // where it is mounted

	t     testing.TB
	image string
}

// NewDisk makes an empty filesystem, "ext4" or "xfs". Mount makes it available in dir.
func NewDisk(t testing.TB, filesystem, dir string) *Disk {
	t.Helper()
	d := &Disk{Dir: dir, t: t, image: filepath.Join(t.TempDir(), "image")}
	d.run("truncate", "-s", "400M", d.image)
	d.run("mkfs."+filesystem, "-q", d.image)
	ctx := context.WithoutCancel(t.Context())
	t.Cleanup(func() { _ = exec.CommandContext(ctx, "umount", "-l", dir).Run() }) // if it is still mounted
	return d
}

// Mount makes the filesystem available.
func (d *Disk) Mount() {
	d.t.Helper()
	d.run("mount", "-o", "loop", d.image, d.Dir)
}

// Unmount ends that. No process may use the filesystem.
func (d *Disk) Unmount() {
	d.t.Helper()
	d.run("umount", d.Dir)
	Succeeds(d.t, "the filesystem to be unused", func() error { // also in mount namespaces of other programs
		devices := d.run("losetup", "--associated", d.image)
		if devices != "" {
			return errors.New(devices)
		}
		return nil
	})
}

// Cut cuts the power.
func (d *Disk) Cut() {
	d.t.Helper()
	const shutdown, noLogFlush = 0x8004587d, 2 // FS_IOC_SHUTDOWN
	dir, err := os.Open(d.Dir)
	if err != nil {
		d.t.Fatal(err)
	}
	defer dir.Close()
	if err := unix.IoctlSetPointerInt(int(dir.Fd()), shutdown, noLogFlush); err != nil {
		d.t.Fatal(err)
	}
}

func (d *Disk) run(args ...string) (output string) {
	d.t.Helper()
	out, err := exec.CommandContext(d.t.Context(), args[0], args[1:]...).CombinedOutput()
	if err != nil {
		d.t.Fatalf("%v: %v: %s", args, err, out)
	}
	return string(out)
}
