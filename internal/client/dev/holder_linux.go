package dev

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// holder names the program that listens at a TCP port of this machine: "svcctl serve (process
// 17429)"; "" if it belongs to another user.
func holder(port int) string {
	sockets := listeners(port)
	files, err := filepath.Glob("/proc/[0-9]*/fd/[0-9]*")
	if err != nil || len(sockets) == 0 {
		return ""
	}
	for _, file := range files {
		target, err := os.Readlink(file)
		if err != nil || !slices.Contains(sockets, target) {
			continue
		}
		pid := strings.Split(file, "/")[2]
		return fmt.Sprintf("%s (process %s)", commandOf(pid), pid)
	}
	return ""
}

// listeners are the sockets that listen at a port, as /proc/PID/fd names them.
func listeners(port int) (sockets []string) {
	const local, state, listen, inode = 1, 3, "0A", 9 // fields of a line, and a state
	for _, name := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		file, err := os.Open(name)
		if err != nil {
			continue
		}
		for lines := bufio.NewScanner(file); lines.Scan(); {
			fields := strings.Fields(lines.Text())
			if len(fields) <= inode || fields[state] != listen {
				continue
			}
			_, hex, _ := strings.Cut(fields[local], ":")
			if n, err := strconv.ParseInt(hex, 16, 32); err == nil && int(n) == port {
				sockets = append(sockets, "socket:["+fields[inode]+"]")
			}
		}
		_ = file.Close()
	}
	return sockets
}

// commandOf is the program of a process with its first argument.
func commandOf(pid string) string {
	text, err := os.ReadFile(filepath.Join("/proc", pid, "cmdline"))
	words := strings.Split(strings.TrimRight(string(text), "\x00"), "\x00")
	if err != nil || words[0] == "" {
		return "a program"
	}
	name := filepath.Base(words[0])
	if len(words) > 1 && !strings.HasPrefix(words[1], "-") && !strings.Contains(words[1], "/") {
		name += " " + words[1]
	}
	return clean(name)
}
