package main

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// files are generated files: the path in the repository, and the content.
type files map[string][]byte

func main() {
	if err := run(os.DirFS("."), "."); err != nil {
		fmt.Fprintln(os.Stderr, "gendocs:", err)
		os.Exit(1)
	}
}

// run writes everything below root, from the program and from the repository src.
func run(src fs.FS, root string) error {
	all, err := generate(src)
	if err != nil {
		return err
	}
	for _, dir := range owned() {
		if err := sweep(root, dir, all); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if err := write(filepath.Join(root, name), all[name]); err != nil {
			return err
		}
	}
	return nil
}

// generate makes every file, in memory.
func generate(src fs.FS) (files, error) {
	all := files{}
	if err := addCoverage(src, all); err != nil {
		return nil, err
	}
	for _, add := range []func(files) error{addCompletions, addPages, addManuals, addSettings, addErrors, addWords, addMetrics, addStates, addAPI} {
		if err := add(all); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// owned are the folders that hold generated files only.
func owned() []string { return []string{"completions", "docs/reference/cli", "docs/man"} }

// sweep removes the files of dir that are generated no longer.
func sweep(root, dir string, all files) error {
	found, err := filepath.Glob(filepath.Join(root, dir, "*"))
	if err != nil {
		return err
	}
	for _, path := range found {
		if _, ok := all[filepath.ToSlash(filepath.Join(dir, filepath.Base(path)))]; ok {
			continue
		}
		if err := os.Remove(path); err != nil {
			return fmt.Errorf("removing a stale file: %w", err)
		}
	}
	return nil
}

func write(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // as git would
		return err
	}
	return os.WriteFile(path, data, 0o644) //nolint:gosec // as git would
}
