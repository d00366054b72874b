//go:build linux

package isolate_test

import (
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/svcctl/svcctl/internal/host/isolate"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func ownerOf(t *testing.T, path string) int {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		return -1
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		t.Fatal(path)
	}
	return int(s.Uid)
}

// TestFiles: files are given and taken back, and those that the user has made belong to the server then.
// Names by which the user would get a file of another one are removed.
func TestFiles(t *testing.T) {
	t.Parallel()
	const uid = 1910000040
	root := svctest.ShortDir(t)
	dir := filepath.Join(root, "objects")
	at := func(names ...string) string { return filepath.Join(append([]string{dir}, names...)...) }
	foreign := filepath.Join(root, "foreign")
	write := func(paths ...string) {
		for _, path := range paths {
			if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.MkdirAll(at("class"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(foreign, at("generation"), at("class", "a.sqlite"))
	if err := os.Link(foreign, at("class", "hard")); err != nil {
		t.Fatal(err)
	}
	if err := isolate.TakeBack(dir); err != nil || ownerOf(t, at("class", "hard")) < 0 {
		t.Errorf("without Give: %v", err)
	}
	if err := isolate.Give(dir, uid); err != nil {
		if os.Geteuid() == 0 {
			t.Error(err)
		}
		return // another user cannot give files away
	}
	want := func(when string, owners map[string]int) {
		t.Helper()
		for path, owner := range owners {
			if got := ownerOf(t, path); got != owner {
				t.Errorf("%s: %s belongs to %d, want %d", when, path, got, owner)
			}
		}
	}
	me := os.Geteuid()
	want("given", map[string]int{dir: me, foreign: me, at("generation"): me, at("class"): uid, at("class", "a.sqlite"): uid, at("class", "hard"): -1})
	write(at("class", "b.sqlite"))
	if err := os.Chown(at("class", "b.sqlite"), uid, uid); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(foreign, at("class", "soft")); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(at("class", "deep"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := isolate.TakeBack(dir); err != nil {
		t.Error(err)
	}
	want("taken back", map[string]int{
		dir: me, foreign: me, at("class"): me, at("class", "a.sqlite"): me, at("class", "b.sqlite"): me,
		at("class", "soft"): -1, at("class", "deep"): -1,
	})
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
}

// TestBar: what workerd made beside its sockets is refused, and it makes nothing more.
func TestBar(t *testing.T) {
	t.Parallel()
	base, from := svctest.ShortDir(t), svc.Isolation{First: 1910000050, Last: 1910000059}
	if !rights(t, from) {
		return
	}
	l, err := isolate.Take(base, from)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dir := dressed(t, l).Dir
	socket, err := net.Listen("unix", filepath.Join(dir, "http.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	if err := os.Chown(filepath.Join(dir, "http.sock"), l.UID, l.UID); err != nil {
		t.Fatal(err)
	}
	if err := l.Bar(dir); err != nil {
		t.Errorf("a socket: %v", err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != fs.FileMode(0o750) {
		t.Errorf("%v, %v", info, err)
	}
	link := filepath.Join(dir, "door.sock")
	if err := os.Symlink("/elsewhere", link); err != nil {
		t.Fatal(err)
	}
	if err := os.Lchown(link, l.UID, l.UID); err != nil {
		t.Fatal(err)
	}
	if err := l.Bar(dir); err == nil {
		t.Error("a link is no socket")
	}
}

func TestTaken(t *testing.T) {
	t.Parallel()
	from := svc.Isolation{First: 100000, Last: 165535}
	for text, want := range map[string]string{
		"root:x:0:0:root:/root:/bin/sh\nme:x:100000:1::/:/bin/sh\n": "me",
		"root:x:0:0:root:/root:/bin/sh\nx\n\nbad:x:y:1\n":           "",
	} {
		if got := isolate.Taken(text, 2, -1, from); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
	for text, want := range map[string]string{
		"me:100000:65536\n": "me", "me:99999:2": "me", "me:165535:1": "me", "me:99000:1000": "", "me:165536:65536": "", "me:1:x": "", "me:1": "",
	} {
		if got := isolate.Taken(text, 1, 2, from); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}
