// Command confine stands for a worker that has broken out of V8: the server starts it in place of
// workerd. It asks the test what to try, and tells what it got.
package main

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// test is the address of the test, set by the linker.
var test string

// wish is what the test asks for.
type wish struct {
	Sockets []string // to send a request to
	Files   []string // to read, and to change the modes of
	PIDs    []int    // to end
}

// result is what the program got.
type result struct {
	Listed   []string          // lines with paths of sockets
	Answers  map[string]string // of sockets, "" for none
	Changed  []string          // files
	Read     []string          // files and directories
	Limited  []int             // processes
	Executed bool
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "--version" {
		fmt.Println("workerd 2026-11-17")
		return
	}
	conn, err := net.Dial("tcp", test)
	if err != nil {
		os.Exit(9)
	}
	defer conn.Close()
	var w wish
	if err := json.NewDecoder(conn).Decode(&w); err != nil {
		os.Exit(8)
	}
	r := result{Listed: list(), Answers: map[string]string{}}
	for _, path := range w.Sockets {
		r.Answers[path] = ask(path)
	}
	for _, path := range w.Sockets {
		if _, err := os.ReadDir(filepath.Dir(path)); err == nil {
			r.Read = append(r.Read, filepath.Dir(path))
		}
	}
	for _, pid := range w.PIDs {
		path := fmt.Sprintf("/proc/%d/environ", pid)
		if _, err := os.ReadFile(path); err == nil {
			r.Read = append(r.Read, path)
		}
	}
	for _, path := range w.Files {
		if _, err := os.ReadFile(path); err == nil {
			r.Read = append(r.Read, path)
		}
		if os.Chmod(path, 0o666) == nil {
			r.Changed = append(r.Changed, path)
		}
	}
	for _, pid := range w.PIDs {
		limit := syscall.Rlimit{Cur: 1, Max: 1} // one second of CPU time: SIGKILL follows
		_, _, errno := syscall.RawSyscall6(prlimit, uintptr(pid), syscall.RLIMIT_CPU, uintptr(unsafe.Pointer(&limit)), 0, 0, 0)
		if errno == 0 || syscall.Kill(pid, syscall.SIGKILL) == nil {
			r.Limited = append(r.Limited, pid)
		}
	}
	_, err = syscall.ForkExec("/bin/sh", []string{"sh", "-c", "true"}, nil)
	r.Executed = err == nil
	json.NewEncoder(conn).Encode(r)
}

// list returns what the kernel says of sockets with paths: in /proc, and by netlink.
func list() (lines []string) {
	for _, file := range []string{"/proc/net/unix", "/proc/self/net/unix", "/proc/1/net/unix"} {
		text, _ := os.ReadFile(file)
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, ".sock") {
				lines = append(lines, line)
			}
		}
	}
	if fd, err := syscall.Socket(syscall.AF_NETLINK, syscall.SOCK_RAW, 4); err == nil { // NETLINK_SOCK_DIAG
		syscall.Close(fd)
		lines = append(lines, "netlink")
	}
	return lines
}

// ask sends a request to a socket.
func ask(path string) string {
	conn, err := net.Dial("unix", path)
	if err != nil {
		return ""
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(5 * time.Second))
	fmt.Fprint(conn, "GET /key HTTP/1.1\r\nHost: x\r\nX-Svc-Binding: kv/KV\r\nConnection: close\r\n\r\n")
	b := make([]byte, 100)
	n, err := conn.Read(b)
	if timeout, is := err.(net.Error); is && timeout.Timeout() {
		return "connected" // it reads what comes
	}
	return string(b[:n])
}
