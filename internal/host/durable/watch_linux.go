package durable

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// watch tells run when workerd opens, closes or deletes a file: its log comes or goes. It
// returns how often run has to look by itself; 0 for never.
func (k *Keeper) watch(ctx context.Context) time.Duration {
	f, dirs, err := k.openWatch()
	var conn syscall.RawConn
	if err == nil {
		conn, err = f.SyscallConn()
	}
	if err != nil {
		k.cfg.Logger.WarnContext(ctx, "cannot watch the files of durable objects; looking every second", "error", err)
		return lookEvery
	}
	k.touchedMu.Lock()
	k.events = func() { _ = conn.Control(func(fd uintptr) { k.readEvents(int(fd), dirs) }) }
	k.touchedMu.Unlock()
	context.AfterFunc(ctx, func() { _ = f.Close() })
	go func() {
		_ = conn.Read(func(fd uintptr) bool { // until f is closed
			k.readEvents(int(fd), dirs)
			select {
			case k.wake <- struct{}{}:
			default:
			}
			return false
		})
	}()
	return 0
}

func (k *Keeper) openWatch() (*os.File, map[int32]string, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, nil, err
	}
	f := os.NewFile(uintptr(fd), "inotify")
	dirs := map[int32]string{}
	for _, key := range k.cfg.Keys {
		dir := filepath.Join(k.cfg.Dir, key)
		wd, err := unix.InotifyAddWatch(fd, dir, unix.IN_CREATE|unix.IN_DELETE|unix.IN_MOVE)
		if err != nil {
			_ = f.Close()
			return nil, nil, err
		}
		dirs[int32(wd)] = dir //nolint:gosec // a small number
	}
	return f, dirs, nil
}

// drain takes note of every file that came or went before the call.
func (k *Keeper) drain() {
	k.touchedMu.Lock()
	read := k.events
	k.touchedMu.Unlock()
	if read == nil {
		k.look(true)
		return
	}
	read()
}

// readEvents reads what there is.
func (k *Keeper) readEvents(fd int, dirs map[int32]string) {
	k.reading.Lock()
	defer k.reading.Unlock()
	buf := make([]byte, 16<<10)
	for {
		n, err := unix.Read(fd, buf)
		if err != nil || n <= 0 {
			return
		}
		for b := buf[:n]; len(b) >= unix.SizeofInotifyEvent; {
			wd, mask := int32(binary.NativeEndian.Uint32(b)), binary.NativeEndian.Uint32(b[4:]) //nolint:gosec // as the kernel writes it
			size := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(b[12:]))
			name := string(bytes.TrimRight(b[unix.SizeofInotifyEvent:size], "\x00"))
			b = b[size:]
			name = strings.TrimSuffix(strings.TrimSuffix(name, "-wal"), "-shm")
			k.look(mask&unix.IN_Q_OVERFLOW != 0, filepath.Join(dirs[wd], name))
		}
	}
}
