//go:build terminal && linux

package devterminal

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/host/provision"
)

// What TestMain made, read-only afterwards.
var svcctl, workerd string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	if _, err := exec.LookPath("tmux"); err != nil {
		return fail(fmt.Errorf("these tests need tmux (apt-get install tmux): %w", err))
	}
	dir, err := os.MkdirTemp("", "terminal-")
	if err != nil {
		return fail(err)
	}
	defer os.RemoveAll(dir)
	svcctl = filepath.Join(dir, "svcctl")
	if out, err := exec.Command("go", "build", "-o", svcctl, "../../../cmd/svcctl").CombinedOutput(); err != nil {
		return fail(fmt.Errorf("build svcctl: %w\n%s", err, out))
	}
	cfg, err := config.LoadDaemon(config.Source{Environ: os.Environ()})
	if err == nil {
		workerd, err = provision.Ensure(context.Background(), provision.Options{Explicit: cfg.Workerd, CacheDir: cfg.Environment.CacheDir})
	}
	if err != nil {
		return fail(err)
	}
	return m.Run()
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 1
}
