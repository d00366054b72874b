package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

type runner struct {
	dir   string
	limit time.Duration
	jobs  int
	only  string
}

// run plants the faults, and returns an error when one of them is not found.
func (r runner) run(ctx context.Context, by string) error {
	var missed []string
	ran := 0
	for _, f := range faults() {
		if !strings.Contains(f.name, r.only) || by != "" && by != f.finder() {
			continue
		}
		began := time.Now()
		found, how, err := r.find(ctx, f)
		if err != nil {
			return err
		}
		if ran++; !found {
			missed = append(missed, f.name)
		}
		fmt.Printf("%-8s %-70s %s, %s\n", map[bool]string{true: "found", false: "MISSED"}[found], f.name, how, time.Since(began).Round(time.Second))
	}
	fmt.Printf("%d of %d faults found\n", ran-len(missed), ran)
	if len(missed) > 0 {
		return fmt.Errorf("not found by its check: %s", strings.Join(missed, "; "))
	}
	return nil
}

// find reports whether the check of a fault finds it.
func (r runner) find(ctx context.Context, f fault) (found bool, how string, err error) {
	original, faulty, err := f.plant(filepath.Join(r.dir, "_planted"))
	if err != nil {
		return false, "", err
	}
	if f.test != "" {
		return r.byTest(ctx, f, map[string]string{original: faulty})
	}
	return r.bySimulator(ctx, f, original+"="+faulty)
}

// byTest runs the test of a fault.
func (r runner) byTest(ctx context.Context, f fault, replace map[string]string) (found bool, how string, err error) {
	overlay := filepath.Join(r.dir, "planted.json")
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err == nil {
		err = os.WriteFile(overlay, data, 0o600)
	}
	if err != nil {
		return false, "", err
	}
	pkg, test, _ := strings.Cut(f.test, " ")
	out, err := exec.CommandContext(ctx, "go", "test", "-overlay", overlay, "-vet=off", "-count=1", "-timeout", "5m", "-tags", "torture",
		"-run", "^("+test+")$", "./internal/"+pkg).CombinedOutput()
	switch {
	case err == nil && strings.Contains(string(out), "no tests to run"):
		return false, "", fmt.Errorf("fault %q: %s has no test %s", f.name, pkg, test)
	case err != nil && !strings.Contains(string(out), "--- FAIL") && !strings.Contains(string(out), "panic: "):
		return false, "", fmt.Errorf("fault %q: %w\n%s", f.name, err, out)
	}
	return err != nil, f.test, nil
}

// bySimulator runs seeds until one violates a rule or the time is over.
func (r runner) bySimulator(ctx context.Context, f fault, replace string) (found bool, how string, err error) {
	out, err := exec.CommandContext(ctx, "go", "run", "./internal/test/simulate/run", "-dir", r.dir, "-replace", replace,
		"-seeds", "1000000", "-stop", "1", "-time", r.limit.String(), "-jobs", fmt.Sprint(r.jobs)).CombinedOutput()
	text := string(out)
	seeds := regexp.MustCompile(`(\d+) seeds in`).FindStringSubmatch(text)
	if seeds == nil && !strings.Contains(text, "panic: ") {
		return false, "", fmt.Errorf("fault %q: %w\n%s", f.name, err, text)
	}
	rule := regexp.MustCompile(`(?m)^seed \d+: ([a-z]+):`).FindStringSubmatch(text)
	switch {
	case rule != nil:
		return true, fmt.Sprintf("simulator, %s seeds, rule %q", seeds[1], rule[1]), nil
	case err != nil:
		return true, "simulator, a panic", nil //nolint:nilerr // the fault was found
	}
	return false, fmt.Sprintf("simulator, %s seeds", seeds[1]), nil
}
