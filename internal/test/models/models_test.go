//go:build models

package models

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// model is a file with the variants that are checked. A variant is a list of definitions of the
// C preprocessor.
type model struct {
	file   string
	holds  []string // variants without a counterexample
	broken []string // variants that must have one: each lacks something that the design needs
}

func models() []model {
	return []model{{
		file:   "data.pml",
		holds:  []string{""},
		broken: []string{"ACK_FIRST", "NO_FENCE", "NO_CLAIM", "CUT_EARLY", "NO_GRACE", "NO_PINS"},
	}, {
		file:  "release.pml",
		holds: []string{"", "MACHINES", "TAKEOVER"},
		broken: []string{
			"AS_WRITTEN", "SEAL_PRODUCTION_ONLY", "FORWARD_ALWAYS", "FORK_BEFORE_SEAL", "NO_CHECK", "NO_READ_BACK", "RESTART_SEALED", "ABORT_RACES",
			"CLOCK_OPENS", "MACHINES LINE_LOST_KEEPS_SEALED_THEN_OPENS", "TAKEOVER NO_SETTLE",
		},
	}}
}

// TestModels checks each model completely, and that each broken variant has a counterexample. The
// checks run one after the other: one of them needs up to 3 GB.
func TestModels(t *testing.T) {
	for _, tool := range []string{"spin", "gcc"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Fatalf("%v; install it, as with apt-get install spin gcc", err)
		}
	}
	for _, m := range models() {
		for _, v := range m.holds {
			t.Run(m.file+" "+v, func(t *testing.T) {
				if r := m.check(t, v); r.errors != "0" {
					t.Errorf("counterexample of depth %s: %s", r.depth, r.violated)
				}
			})
		}
		for _, v := range m.broken {
			t.Run(m.file+" "+v, func(t *testing.T) {
				if r := m.check(t, v); r.errors == "0" {
					t.Error("no counterexample: the model does not need what this variant lacks")
				}
			})
		}
	}
}

// result is what the search of a variant found.
type result struct{ errors, states, depth, violated string }

// check searches all states of a variant.
func (m model) check(t *testing.T, variant string) (r result) {
	t.Helper()
	source, err := filepath.Abs(m.file)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	spin := []string{"-a"}
	for define := range strings.FieldsSeq(variant) {
		spin = append(spin, "-D"+define)
	}
	run(t, dir, "spin", append(spin, source)...)
	run(t, dir, "gcc", "-O2", "-w", "-DSAFETY", "-DCOLLAPSE", "-DMEMLIM=4000", "-o", "pan", "pan.c")
	began := time.Now()
	out := run(t, dir, "./pan", "-m200000", "-E")
	for _, incomplete := range []string{"max search depth too small", "out of memory"} {
		if strings.Contains(out, incomplete) {
			t.Fatalf("the search is not complete: %s", incomplete)
		}
	}
	r = result{find(out, `errors: (\d+)`), find(out, `([\d.e+]+) states, stored`), find(out, `depth reached (\d+)`), find(out, `(assertion violated .*)`)}
	t.Logf("%s states, depth %s, %s errors, %v", r.states, r.depth, r.errors, time.Since(began).Round(time.Millisecond))
	if r.errors == "" {
		t.Fatalf("the search did not end:\n%s", out)
	}
	return r
}

// run returns the output of a command. The exit code of pan says nothing.
func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || name != "./pan") {
		t.Fatal(fmt.Errorf("%s: %w\n%s", name, err, &out))
	}
	return out.String()
}

func find(text, pattern string) string {
	if found := regexp.MustCompile(pattern).FindStringSubmatch(text); found != nil {
		return found[1]
	}
	return ""
}
