//go:build linux

package confine_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/host/confine"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// open opens files that may be created, in the directory args[0], and says what they hold.
func open(_ context.Context, args []string) error {
	dir, err := os.OpenRoot(args[0])
	if err != nil {
		return err
	}
	for _, name := range []string{"made", "new", "refused", "made"} {
		f, err := dir.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
		text := make([]byte, 10)
		n := 0
		if err == nil {
			n, _ = f.Read(text)
			_ = f.Close()
		}
		fmt.Fprintf(os.Stdout, "%s %q %t\n", name, text[:n], err == nil)
	}
	f, err := os.OpenFile(filepath.Join(args[0], "absolute"), os.O_RDWR|os.O_CREATE, 0o600)
	if err == nil {
		err = f.Close()
	}
	return err
}

// opens starts the role open on a thread that is confined and whose calls handle handles. The
// program and the handling have ended when it returns what the program said.
func opens(t *testing.T, dir string, handle func(path string, unread error) error) string {
	t.Helper()
	started, served := make(chan *svctest.Process), make(chan error, 1)
	var o *confine.Calls
	go func() {
		runtime.LockOSThread() // and ends with the goroutine
		defer close(started)
		command := svctest.Command("open", dir)
		if _, err := confine.Thread(confine.Profile{Program: command[0], Write: []string{dir}}); err != nil {
			t.Error(err)
			return
		}
		var err error
		if o, err = confine.Notify(true, false); err != nil {
			t.Error(err)
			return
		}
		go func() { served <- o.Serve(0, confine.Handlers{Open: handle}) }()
		started <- svctest.Start(t, "open", dir)
	}()
	child := <-started
	if child == nil {
		t.FailNow()
	}
	lines := child.Result(t)
	if err := o.Close(); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Errorf("serving: %v", err)
	}
	return strings.Join(lines, "\n")
}

func same(a, b string) bool {
	one, err := os.Stat(a)
	other, otherErr := os.Stat(b)
	return errors.Join(err, otherErr) == nil && os.SameFile(one, other)
}

// A file that is made while its open waits is the one that is opened; an error fails the
// open and creates nothing; Serve ends at Close.
func TestOpens(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	calls := map[string]int{}
	got := opens(t, dir, func(path string, unread error) error {
		if unread != nil {
			return unread
		}
		name := filepath.Base(path)
		if !same(filepath.Dir(path), dir) {
			return nil
		}
		calls[name]++
		switch name {
		case "made":
			return os.WriteFile(filepath.Join(dir, name), []byte("content"), 0o600)
		case "refused":
			return errors.New("refused")
		}
		return nil
	})
	want := "made \"content\" true\nnew \"\" true\nrefused \"\" false\nmade \"content\" true"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if calls["made"] != 2 || calls["new"] != 1 || calls["absolute"] != 1 {
		t.Errorf("calls: %v", calls)
	}
	if _, err := os.Stat(filepath.Join(dir, "refused")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a refused file: %v", err)
	}
}
