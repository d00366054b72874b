// Npm writes the npm packages of a release, from the programs that goreleaser has built: for svcctl and for
// @svcctl/client one package that has the command, and one for each platform that has the program; and @svcctl/test,
// which has no program.
// The same programs give the same bytes. npm publish takes the files.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	dist := flag.String("dist", "dist", "directory that goreleaser wrote")
	flag.Parse()
	if err := run(*dist); err != nil {
		fmt.Fprintln(os.Stderr, "npm:", err)
		os.Exit(1)
	}
}

// run writes DIST/npm/*.tgz.
func run(dist string) error {
	var release struct {
		Version string `json:"version"`
	}
	if err := read(filepath.Join(dist, "metadata.json"), &release); err != nil {
		return err
	}
	var built []program
	if err := read(filepath.Join(dist, "artifacts.json"), &built); err != nil {
		return err
	}
	tests, err := helperPackage(release.Version)
	if err != nil {
		return err
	}
	if err := tests.write(filepath.Join(dist, "npm")); err != nil {
		return err
	}
	for _, p := range products() {
		packages, err := p.packages(release.Version, built, filepath.Dir(dist))
		if err != nil {
			return err
		}
		for _, pkg := range packages {
			if err := pkg.write(filepath.Join(dist, "npm")); err != nil {
				return err
			}
		}
	}
	return nil
}

func read(path string, into any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read what goreleaser wrote: %w", err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}
