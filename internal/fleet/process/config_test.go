package process

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/svc"
)

// TestCheck: a config names what it lacks.
func TestCheck(t *testing.T) {
	t.Parallel()
	good := Config{Logger: slog.New(slog.DiscardHandler), Command: []string{"/bin/svcd"}, Workerd: "/bin/workerd", RunDir: "/run/svc"}
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Config){
		"logger required":             func(c *Config) { c.Logger = nil },
		"host command required":       func(c *Config) { c.Command = nil },
		"begin with an absolute path": func(c *Config) { c.Command = []string{"svcd"} },
		"workerd binary required":     func(c *Config) { c.Workerd = "" },
		"must be absolute":            func(c *Config) { c.RunDir = "run" },
		"too long for sockets":        func(c *Config) { c.RunDir = "/" + strings.Repeat("x", maxRunDir) },
	} {
		c := good
		change(&c)
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestClearKeepsOthers: only names that this package gives are removed, and the directory is made if it is missing.
func TestClearKeepsOthers(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	c := Config{Logger: slog.New(slog.DiscardHandler), RunDir: dir}
	if err := c.Clear(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"0123456789abcdef", "gateway.sock", "0123456789abcde"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Clear(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if want := []string{"0123456789abcde", "gateway.sock"}; err != nil || !slices.Equal(left, want) {
		t.Errorf("left %q, %v; want %q", left, err, want)
	}
}

// TestHearing: notices that come before anything hears them are kept, in their order.
func TestHearing(t *testing.T) {
	t.Parallel()
	var h hearing
	notice := func(op string) control.Notice {
		return control.Notice{Requests: []svc.RequestCount{{Op: op}}}
	}
	h.add(notice("one"))
	h.add(notice("two"))
	var heard []string
	h.to(func(n control.Notice) { heard = append(heard, n.Requests[0].Op) })
	h.add(notice("three"))
	if want := []string{"one", "two", "three"}; !slices.Equal(heard, want) {
		t.Errorf("heard %q, want %q", heard, want)
	}
}
