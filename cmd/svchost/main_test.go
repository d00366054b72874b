package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// mostInitialized is how many packages with an initialization this program may have, with
// those of the tests: each costs every worker host time and memory. The main binary has 340.
const mostInitialized = 165

// TestInitialization counts the packages that are initialized before main, and fails for
// those of programs that a worker host is not.
func TestInitialization(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	cmd.Env = []string{"GODEBUG=inittrace=1"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	packages := regexp.MustCompile(`(?m)^init (\S+) @`).FindAllStringSubmatch(string(out), -1)
	if n := len(packages); n < mostInitialized/2 || n > mostInitialized {
		t.Errorf("%d packages are initialized, want at most %d", n, mostInitialized)
	}
	for _, p := range packages {
		for _, other := range []string{"/internal/client/", "/internal/server/", "/internal/data/s3server", "/cobra", "prometheus/"} {
			if strings.Contains(p[1], other) {
				t.Errorf("a worker host links %s", p[1])
			}
		}
	}
}
