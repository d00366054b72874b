package systemd

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// firstFD is the first descriptor of LISTEN_FDS.
const firstFD = 3

// ownName is the variable that tells the next program its sockets: "api=7,gateway=8".
const ownName = "SVCD_SOCKETS"

// Set holds the sockets that a process was started with. It is not safe for concurrent
// use. A nil Set is empty.
type Set struct{ listeners map[string]net.Listener }

// Inherit opens the sockets that environ names for the process pid. It is called once,
// before the process starts others.
func Inherit(environ []string, pid int) (*Set, error) {
	fds, err := named(environ, pid)
	if err != nil {
		return nil, err
	}
	s := &Set{listeners: map[string]net.Listener{}}
	for name, fd := range fds {
		syscall.CloseOnExec(fd)
		file := os.NewFile(uintptr(fd), name)
		l, err := net.FileListener(file)
		if err = errors.Join(err, file.Close()); err != nil { // l has its own
			return nil, errors.Join(fmt.Errorf("inherited socket %q: %w", name, err), s.Close())
		}
		s.listeners[name] = l
	}
	return s, nil
}

// named returns the descriptors by name.
func named(environ []string, pid int) (map[string]int, error) {
	fds := map[string]int{}
	if own := lookup(environ, ownName); own != "" {
		for pair := range strings.SplitSeq(own, ",") {
			name, fd, _ := strings.Cut(pair, "=")
			n, err := strconv.Atoi(fd)
			if err != nil || n < firstFD {
				return nil, fmt.Errorf("%s: %q is not a name and a descriptor", ownName, pair)
			}
			fds[name] = n
		}
		return fds, nil
	}
	if lookup(environ, "LISTEN_PID") != strconv.Itoa(pid) {
		return fds, nil // none, or for another process
	}
	n, err := strconv.Atoi(lookup(environ, "LISTEN_FDS"))
	if err != nil || n < 0 {
		return nil, fmt.Errorf("LISTEN_FDS=%s: not a number of sockets", lookup(environ, "LISTEN_FDS"))
	}
	names := strings.Split(lookup(environ, "LISTEN_FDNAMES"), ":")
	for i := range n {
		if i >= len(names) || names[i] == "" {
			return nil, fmt.Errorf("LISTEN_FDNAMES: socket %d of %d has no name: set FileDescriptorName in its unit", i+1, n)
		}
		fds[names[i]] = firstFD + i
	}
	return fds, nil
}

func lookup(environ []string, name string) string {
	for _, entry := range environ {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// Take returns the socket of a name, which the caller then owns; nil if the set has none.
func (s *Set) Take(name string) net.Listener {
	if s == nil || s.listeners[name] == nil {
		return nil
	}
	l := s.listeners[name]
	delete(s.listeners, name)
	return l
}

// Close closes the sockets that were not taken.
func (s *Set) Close() error {
	if s == nil {
		return nil
	}
	var errs []error
	for _, l := range s.listeners {
		errs = append(errs, l.Close())
	}
	s.listeners = nil
	return errors.Join(errs...)
}

// Kept are sockets that stay open when the listeners that use them are closed. No
// process accepts their connections until the next program does.
type Kept struct{ fds map[string]int }

// Keep duplicates the sockets of listeners, by name.
func Keep(listeners map[string]net.Listener) (*Kept, error) {
	k := &Kept{fds: map[string]int{}}
	for name, l := range listeners {
		fd, err := duplicate(l)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("keep socket %q: %w", name, err), k.Close())
		}
		k.fds[name] = fd
	}
	return k, nil
}

// duplicate leaves the socket's mode alone: os.File.Fd would make it blocking for the
// listener, too.
func duplicate(l net.Listener) (fd int, err error) {
	conn, ok := l.(syscall.Conn)
	if !ok {
		return 0, fmt.Errorf("%T has no descriptor", l)
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var failed error
	err = raw.Control(func(from uintptr) { fd, failed = unix.FcntlInt(from, unix.F_DUPFD_CLOEXEC, firstFD) })
	return fd, errors.Join(err, failed)
}

// Close closes the sockets.
func (k *Kept) Close() error {
	var errs []error
	for _, fd := range k.fds {
		errs = append(errs, unix.Close(fd))
	}
	k.fds = nil
	return errors.Join(errs...)
}

// Exec replaces this process by the program argv[0] and gives it the sockets. It returns
// only if that fails.
func (k *Kept) Exec(argv, environ []string) error {
	environ = slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains([]string{ownName, "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"}, name)
	})
	var pairs []string
	for name, fd := range k.fds {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFD, 0); err != nil {
			return fmt.Errorf("hand over socket %q: %w", name, err)
		}
		pairs = append(pairs, name+"="+strconv.Itoa(fd))
	}
	err := syscall.Exec(argv[0], argv, append(environ, ownName+"="+strings.Join(pairs, ",")))
	return fmt.Errorf("replace the process by %s: %w", argv[0], err)
}
