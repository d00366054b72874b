package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFaultsFit: each fault changes its file, and its name is unique.
func TestFaultsFit(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, f := range faults() {
		data, err := os.ReadFile(filepath.Join("../..", filepath.FromSlash(f.file)))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(data), f.old) || f.old == f.new {
			t.Errorf("%s: %s has changed: adapt the fault to it", f.name, f.file)
		}
		if names[f.name] {
			t.Errorf("two faults are called %q", f.name)
		}
		names[f.name] = true
	}
}
