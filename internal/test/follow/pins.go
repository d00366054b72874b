package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

// pins are the versions that the repository names.
type pins struct{ Workerd, Wrangler, VitePlugin, Types string }

// equal reports whether there is nothing to move. The types are not pinned: they are checked with a new workerd.
func (p pins) equal(q pins) bool {
	return p.Workerd == q.Workerd && p.Wrangler == q.Wrangler && p.VitePlugin == q.VitePlugin
}

// tree is the repository.
type tree struct{ root string }

// errNoPin is the error of a file in which nothing is to be moved.
var errNoPin = errors.New("there is no pin to move")

// The files with pins.
const (
	versionFile = "internal/host/workerd/doc.go"
	compatFile  = "internal/host/workerd/compat.go"
	flagsFile   = "internal/host/workerd/compatflags.tsv"
	releaseFile = "internal/host/provision/release.go"
	projectFile = "scripts/frameworks/projects/hono-vite/package.json"
)

// pinned are the files that name a version of a package in quotes, as patterns.
//
//nolint:gochecknoglobals // a constant list
var pinned = []string{"bench/package.json", "bench/differential/package.json", "scripts/frameworks/projects/*/package.json"}

// The texts around a pin.
var (
	versionLine = regexp.MustCompile(`(?m)^const Version = "([^"]+)"$`)
	printedLine = regexp.MustCompile(`(?m)^const VersionLine = "([^"]+)"$`)
	dateLine    = regexp.MustCompile(`(?m)^const MaxCompatibilityDate = "([^"]+)"$`)
	comparedTo  = regexp.MustCompile("(under `wrangler dev` )([0-9.]+)")
)

// named matches the pin of a package in a package.json. The version is the second group.
func named(pkg string) *regexp.Regexp {
	return regexp.MustCompile(`("` + regexp.QuoteMeta(pkg) + `": ")(\d[^"]*)(")`)
}

// read returns the pins.
func (t tree) read() (p pins, err error) {
	for _, pin := range []struct {
		file    string
		pattern *regexp.Regexp
		group   int
		to      *string
	}{{versionFile, versionLine, 1, &p.Workerd}, {"bench/differential/package.json", named("wrangler"), 2, &p.Wrangler}, {projectFile, named("@cloudflare/vite-plugin"), 2, &p.VitePlugin}} {
		text, err := os.ReadFile(filepath.Join(t.root, pin.file))
		if err != nil {
			return p, err
		}
		m := pin.pattern.FindSubmatch(text)
		if m == nil {
			return p, fmt.Errorf("%s has no pin like %s", pin.file, pin.pattern)
		}
		*pin.to = string(m[pin.group])
	}
	return p, nil
}

// edit replaces a file by what change makes of it. It is an error if nothing changes.
func (t tree) edit(file string, change func(string) string) error {
	path := filepath.Join(t.root, file)
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	changed := change(string(text))
	if changed == string(text) {
		return fmt.Errorf("%s: %w", file, errNoPin)
	}
	return os.WriteFile(path, []byte(changed), 0o644) //nolint:gosec // a source file
}

// write moves the pins in the files of packages, and in the text that names what answers are compared with.
func (t tree) write(before, after pins) error {
	for _, pattern := range pinned {
		files, err := filepath.Glob(filepath.Join(t.root, pattern))
		if err != nil {
			return err
		}
		for _, path := range files {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			changed := string(text)
			for pkg, version := range map[string]string{"workerd": after.Workerd, "wrangler": after.Wrangler, "@cloudflare/vite-plugin": after.VitePlugin} {
				changed = named(pkg).ReplaceAllString(changed, "${1}"+version+"${3}")
			}
			if err := os.WriteFile(path, []byte(changed), 0o644); err != nil { //nolint:gosec // a source file
				return err
			}
		}
	}
	if before.Wrangler == after.Wrangler {
		return nil
	}
	return t.edit("docs/reference/wrangler-dev.md", func(text string) string { return comparedTo.ReplaceAllString(text, "${1}"+after.Wrangler) })
}

// writeWorkerd pins a release.
func (t tree) writeWorkerd(version string, r release) error {
	err := t.edit(versionFile, func(text string) string {
		text = versionLine.ReplaceAllString(text, fmt.Sprintf("const Version = %q", version))
		return printedLine.ReplaceAllString(text, fmt.Sprintf("const VersionLine = %q", r.line))
	})
	if err != nil {
		return err
	}
	err = t.edit(compatFile, func(text string) string {
		return dateLine.ReplaceAllString(text, fmt.Sprintf("const MaxCompatibilityDate = %q", r.date))
	})
	if err != nil && !errors.Is(err, errNoPin) { // two releases of one week have the same date
		return err
	}
	return t.edit(releaseFile, func(text string) string {
		for name, p := range r.packages {
			pin := regexp.MustCompile(`(Name:\s+"` + regexp.QuoteMeta(name) + `",\s+Integrity: ")[^"]*(",\s+Binary:\s+")[^"]*(")`)
			text = pin.ReplaceAllString(text, "${1}"+p.integrity+"${2}"+p.binary+"${3}")
		}
		return text
	})
}

// write writes a file, and makes its directory.
func write(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // a directory of the repository
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644) //nolint:gosec // a report
}
