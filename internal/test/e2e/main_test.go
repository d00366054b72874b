//go:build e2e

package e2e

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/host/provision"
	"github.com/svcctl/svcctl/internal/test/acmetest"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// What TestMain made, read-only afterwards.
var (
	svcctl    string // the binary under test
	breakable string // the same with failpoints, and for clients: most of its life is starting, so it goes without the race detector
	workerd   string
)

var raced = flag.Int("raced", 4, "one in this many servers runs with the race detector, other ones in each run; 1 for all")

// installed measures a server with the program of its worker hosts, which it runs only if both
// were built from the same commit.
var installed = flag.String("installed", "", "directory with svcctl and svchost (make build) that measurements run; empty = the binary under test")

func TestMain(m *testing.M) {
	svctest.Play(map[string]svctest.Role{acmetest.RoleName: acmetest.Role})
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "e2e-")
	if err != nil {
		return fail(err)
	}
	defer os.RemoveAll(dir)
	svcctl, breakable = filepath.Join(dir, "svcctl"), filepath.Join(dir, "breakable")
	for _, args := range [][]string{append(raceFlags, "-o", svcctl), {"-tags", "failpoint", "-o", breakable}} {
		args = append(append([]string{"build", "-ldflags=-s -w"}, args...), "../../../cmd/svcctl")
		if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
			return fail(fmt.Errorf("build svcctl: %w\n%s", err, out))
		}
	}
	cfg, err := config.LoadDaemon(config.Source{Environ: os.Environ()})
	if err != nil {
		return fail(err)
	}
	workerd, err = provision.Ensure(context.Background(), provision.Options{Explicit: cfg.Workerd, CacheDir: cfg.Environment.CacheDir})
	if err != nil {
		return fail(err)
	}
	return wider(m)
}

// program is what a server of a test runs. With the race detector it takes three times the processor time,
// so not all have it.
func program() string {
	if rand.IntN(*raced) == 0 {
		return svcctl
	}
	return breakable
}

// wider runs more tests concurrently than there are processors: most wait for a
// process to start or to die.
func wider(m *testing.M) int {
	flag.Parse()
	if parallel := flag.Lookup("test.parallel"); parallel.Value.String() == parallel.DefValue {
		if err := parallel.Value.Set(strconv.Itoa(2 * runtime.GOMAXPROCS(0))); err != nil {
			return fail(err)
		}
	}
	return m.Run()
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 1
}
