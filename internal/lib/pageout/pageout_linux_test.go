package pageout_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/svcctl/svcctl/internal/lib/pageout"
)

const size = 8 << 20

// TestOut pages out a file that a process has mapped for itself, which needs no swap: the
// process of the test, and another one.
func TestOut(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pages")
	if err := os.WriteFile(path, bytes.Repeat([]byte("x"), size), 0o600); err != nil {
		t.Fatal(err)
	}
	unmap := load(t, path)
	defer unmap()
	check(t, os.Getpid(), path)

	other := filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(other, bytes.Repeat([]byte("x"), size), 0o600); err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChild$")
	child.Env = append(os.Environ(), "PAGEOUT_FILE="+other)
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "loaded\n" {
		t.Fatal(line, err)
	}
	check(t, child.Process.Pid, other)
	_ = in.Close()
	if err := child.Wait(); err != nil {
		t.Error(err)
	}
	if err := pageout.Out(child.Process.Pid); err == nil || pageout.Denied(err) {
		t.Errorf("a process that has ended: %v", err)
	}
}

// TestChild is the other process of TestOut.
func TestChild(t *testing.T) {
	path := os.Getenv("PAGEOUT_FILE")
	if path == "" {
		return
	}
	defer load(t, path)()
	fmt.Println("loaded")
	_, _ = bufio.NewReader(os.Stdin).ReadByte()
	os.Exit(0) // no summary on the output
}

// load maps a file and reads it.
func load(t *testing.T, path string) (unmap func()) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	pages, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Count(pages, []byte("x")) != size {
		t.Fatal("the file has other bytes")
	}
	return func() { _ = unix.Munmap(pages) }
}

// check pages a process out, and fails if the file is in its memory afterwards.
func check(t *testing.T, pid int, path string) {
	t.Helper()
	if before := resident(t, pid, path); before != size>>10 {
		t.Fatalf("%d kB are in memory before", before)
	}
	err := pageout.Out(pid)
	switch after := resident(t, pid, path); {
	case pid != os.Getpid() && os.Geteuid() != 0 && pageout.Denied(err): // without CAP_SYS_NICE
		if after != size>>10 {
			t.Errorf("%d kB are in memory, and %v", after, err)
		}
	case err != nil || after > size>>12:
		t.Errorf("%d kB are in memory, and %v", after, err)
	}
}

// resident returns how much of a file a process has in memory, in kB.
func resident(t *testing.T, pid int, path string) (kb int) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), path+"\n")
	_, rest, ok2 := strings.Cut(rest, "Rss:")
	if _, err := fmt.Sscan(rest, &kb); err != nil || !ok || !ok2 {
		t.Fatalf("%s is not mapped: %v", path, err)
	}
	return kb
}
