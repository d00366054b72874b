package dev

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/svcctl/svcctl/internal/client/project"
	"github.com/svcctl/svcctl/internal/client/watch"
)

// outputs are what the build of a framework writes: the directories of the worker and of its
// static files, if they are hidden (.svelte-kit, .output, .open-next) or named by a project
// file that the build has written.
func outputs(f *project.File) (o watch.Output) {
	if f.Output != "" {
		return watch.Output{Dirs: []string{filepath.Dir(filepath.Dir(f.Output))}, Last: f.Written()}
	}
	if f.Build.Command != "" || project.BuildCommand(f.Root) == "" {
		return o
	}
	made := f.Built()
	add := func(dir string) bool {
		rel, err := filepath.Rel(f.Root, dir)
		hidden := strings.HasPrefix(rel, ".") && filepath.IsLocal(rel)
		if err != nil || rel == "." || !made && !hidden {
			return false
		}
		o.Dirs = append(o.Dirs, dir)
		return true
	}
	if f.Main != "" && add(filepath.Dir(f.Main)) {
		o.Last = append(o.Last, f.Main)
	}
	if f.Assets != nil && f.Assets.Dir != "" {
		add(f.Assets.Dir)
	}
	if made {
		o.Last = append(o.Last, f.Path)
	}
	return o
}

// builder is the command that builds a project.
func builder(root string) string { return cmp.Or(project.BuildCommand(root), "npx cf build") }

// byBuild names the output of a framework's build as one change; nil if not all paths are.
func (w *worker) byBuild(paths []string) []string {
	if len(paths) <= maxNames {
		return nil
	}
	for _, path := range paths {
		if !within(w.outputs.Dirs, path) {
			return nil
		}
	}
	return []string{fmt.Sprintf("output of %s (%d files)", builder(w.root), len(paths))}
}

func within(dirs []string, path string) bool {
	for _, dir := range dirs {
		if rel, err := filepath.Rel(dir, path); err == nil && (rel == "." || filepath.IsLocal(rel)) {
			return true
		}
	}
	return false
}
