package peer

import (
	"bytes"
	"net"
	"os"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Only returns a listener that accepts the connections to l, a listener for a Unix socket, that this
// process makes, or the process host, or a descendant of host. A host of 0 has no process. Other
// connections are closed; refused, which may be nil, is called with the process of the first one.
func Only(l net.Listener, host int, refused func(pid int)) net.Listener {
	return &listener{Listener: l, self: os.Getpid(), host: host, refused: refused}
}

type listener struct {
	net.Listener

	self, host int
	refused    func(pid int)
	once       sync.Once
}

// Accept accepts the next connection of a process that the listener is for.
func (l *listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		pid := of(conn)
		if l.admits(pid) {
			return conn, nil
		}
		_ = conn.Close()
		if l.refused != nil {
			l.once.Do(func() { l.refused(pid) })
		}
	}
}

// admits looks at the process and its parents. A process cannot get another parent but one that
// takes in orphans, which no worker host does.
func (l *listener) admits(pid int) bool {
	if pid == l.self {
		return true
	}
	for ; pid > 0; pid = parent(pid) {
		if pid == l.host {
			return true
		}
	}
	return false
}

// of returns the process that has made a connection; 0 if it is unknown.
func of(conn net.Conn) int {
	c, ok := conn.(syscall.Conn)
	if !ok {
		return 0
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return 0
	}
	pid := 0
	_ = raw.Control(func(fd uintptr) { // pid stays 0
		if cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			pid = int(cred.Pid)
		}
	})
	return pid
}

// parent returns the parent of a process; 0 if it is unknown.
func parent(pid int) int {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]) // after the name, which may hold anything
	if len(fields) < 2 {
		return 0
	}
	n, _ := strconv.Atoi(string(fields[1])) // 0 if it is no number
	return n
}
