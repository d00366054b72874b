//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/provision"
)

// What TestMain made, read-only afterwards.
var (
	svcctl  string // the binary under test, built with failpoints
	workerd string
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "e2e-")
	if err != nil {
		return fail(err)
	}
	defer os.RemoveAll(dir)
	svcctl = filepath.Join(dir, "svcctl")
	args := append(append([]string{"build"}, raceFlags...), "-tags", "failpoint", "-o", svcctl, "../../cmd/svcctl")
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		return fail(fmt.Errorf("build svcctl: %w\n%s", err, out))
	}
	cfg, err := config.LoadDaemon(config.Source{Environ: os.Environ()})
	if err != nil {
		return fail(err)
	}
	workerd, err = provision.Ensure(context.Background(), provision.Options{Explicit: cfg.Workerd, CacheDir: cfg.Environment.CacheDir})
	if err != nil {
		return fail(err)
	}
	return m.Run()
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 1
}
