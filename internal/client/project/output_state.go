package project

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// exportsOwn finds the export svcctl in a project file that is a program.
var exportsOwn = regexp.MustCompile(`(?m)^\s*export\s+(const|let|var)\s+svcctl\b`)

// context says what does not fit about the build that wrote the output.
func (f foundFile) context(r *reader, dir string, opts Options) {
	root := filepath.Join(f.output.dir, olderConfig)
	if data, err := os.ReadFile(root); err == nil {
		n, err := parseJSONC(data)
		if err != nil {
			return
		}
		c := n.get("buildContext")
		preview, mode := c.get("isPreview"), c.get("mode")
		note := func(format string, args ...any) {
			r.notices = append(r.notices, Notice{Warning, display(dir, root), fmt.Sprintf(format, args...)})
		}
		switch {
		case preview != nil && preview.yes && !opts.Previews:
			note("the Build Output was made for a preview; svcctl preview deploys one")
		case preview != nil && !preview.yes && opts.Previews:
			note("the Build Output was not made for a preview: what the project has for previews is not in it")
		}
		if mode != nil && opts.Mode != "" && mode.text != opts.Mode {
			note("the Build Output was made with the mode %s, not %s: build the project again", mode.text, opts.Mode)
		}
	}
	if newer := f.newer(); newer != "" {
		r.notices = append(r.notices, Notice{Warning, display(dir, f.Path), fmt.Sprintf("%s is newer than the Build Output: %s", display(dir, newer), f.rebuild())})
	}
	if len(f.output.configs) > 1 && opts.Config == "" {
		r.notices = append(r.notices, Notice{Info, display(dir, f.output.dir), fmt.Sprintf("it has %d workers; svcctl deploy deploys all of them", len(f.output.configs))})
	}
}

// rebuild says how to build the project.
func (f foundFile) rebuild() string {
	if command := BuildCommand(f.Root); command != "" {
		return "run " + command
	}
	return "build the project again (npx cf build)"
}

// sources are the endings of files that a build reads.
//
//nolint:gochecknoglobals // a constant list
var sources = []string{".ts", ".tsx", ".js", ".jsx", ".mjs", ".mts", ".vue", ".svelte", ".astro", ".css", ".html"}

// newer is a source of the project that is newer than the output; "" for none.
func (f foundFile) newer() (newest string) {
	info, err := os.Stat(f.Path)
	if err != nil {
		return ""
	}
	at, looked := info.ModTime(), 0
	_ = filepath.WalkDir(f.Root, func(path string, d fs.DirEntry, err error) error { // no function returns another error
		looked++
		switch {
		case err != nil:
			return nil //nolint:nilerr // left out
		case looked > mostLooked:
			return fs.SkipAll
		case d.IsDir():
			if path != f.Root && slices.Contains([]string{"node_modules", "dist", "build", "out", "coverage", "public"}, d.Name()) {
				return fs.SkipDir
			}
			return enter(path != f.Root, d.Name(), false)
		case !slices.Contains(sources, filepath.Ext(path)) || strings.HasSuffix(path, ".d.ts"):
			return nil
		}
		if info, err := d.Info(); err == nil && info.ModTime().After(at.Add(time.Second)) {
			newest, at = path, info.ModTime()
		}
		return nil
	})
	return newest
}
