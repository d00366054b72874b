package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// fault is a broken variant of the code.
type fault struct {
	name     string
	file     string // below internal
	old, new string // each occurrence of old is replaced
	// test is a package below internal and the test of it that must find the fault; "" when
	// the simulator must find it.
	test string
}

// finder is what must find the fault.
func (f fault) finder() string {
	if f.test == "" {
		return "simulator"
	}
	return "test"
}

// faults are all faults, in the order of their packages.
func faults() (all []fault) {
	all = append(all, faultsOfDatabases()...)
	all = append(all, faultsOfCuts()...)
	all = append(all, faultsOfLogs()...)
	all = append(all, faultsOfHistory()...)
	return append(all, faultsOfBranches()...)
}

// plant writes the faulty file to dir, and returns its path and that of the original.
func (f fault) plant(dir string) (original, faulty string, err error) {
	original, err = filepath.Abs(filepath.Join("internal", filepath.FromSlash(f.file)))
	if err != nil {
		return "", "", err
	}
	data, err := os.ReadFile(original)
	if err != nil {
		return "", "", err
	}
	text := strings.ReplaceAll(string(data), f.old, f.new)
	if text == string(data) {
		return "", "", fmt.Errorf("fault %q: %s has not the text %q; adapt it in internal/test/mutate", f.name, f.file, f.old)
	}
	if faulty, err = filepath.Abs(filepath.Join(dir, filepath.Base(f.file))); err != nil {
		return "", "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // files of the build, as in bin
		return "", "", err
	}
	return original, faulty, os.WriteFile(faulty, []byte(text), 0o600) //nolint:gosec // a file of this repository
}
