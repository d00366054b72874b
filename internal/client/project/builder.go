package project

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/svcctl/svcctl/internal/svc"
)

// builtBy are the config files of tools whose build makes a worker or static files, as
// patterns.
//
//nolint:gochecknoglobals // a constant table
var builtBy = []string{
	"vite.config.*", "astro.config.*", "svelte.config.*", "nuxt.config.*", "next.config.*", "react-router.config.*", "app.config.*",
	"remix.config.*", "gatsby-config.*", "docusaurus.config.*", "angular.json", "vue.config.*", "eleventy.config.*", ".eleventy.js",
}

// runner is a package manager: its lock file, and how it runs a script of package.json and a
// program of a package, and installs the packages.
type runner struct{ lock, script, program, install string }

//nolint:gochecknoglobals // a constant table
var runners = []runner{
	{"pnpm-lock.yaml", "pnpm run ", "pnpm exec ", "pnpm install"},
	{"yarn.lock", "yarn ", "yarn ", "yarn install"},
	{"bun.lock", "bun run ", "bunx ", "bun install"},
	{"bun.lockb", "bun run ", "bunx ", "bun install"},
	{"package-lock.json", "npm run ", "npx ", "npm install"},
}

// BuildCommand is the command that builds the project of a directory; "" for a project that
// has neither a script for it nor the config of a tool with a build.
func BuildCommand(dir string) string { return buildCommand(dir, "") }

// buildCommand is BuildCommand for what makes a path, which may be "".
func buildCommand(dir, path string) string {
	r, scripts := runnerOf(dir), manifestOf(dir).Scripts
	rel, err := filepath.Rel(dir, path)
	if path == "" || err != nil {
		rel = ""
	}
	part := partOf(scripts, rel)
	switch {
	case matches(dir, "open-next.config.*"):
		return r.program + "opennextjs-cloudflare build"
	case scripts["build"] != "":
		return r.script + "build"
	case part != "":
		return r.script + part
	case matches(dir, builtBy...):
		return r.script + "build"
	}
	return ""
}

// partOf is the script that builds a part of a project without a script build: that which is named
// after a directory of the path, which is relative to the project, as build:web is for dist/web, or else the only one; "" for none.
func partOf(scripts map[string]string, path string) string {
	dirs := strings.Split(filepath.ToSlash(path), "/")
	var all []string
	for _, name := range slices.Sorted(maps.Keys(scripts)) {
		part, ok := strings.CutPrefix(name, "build:")
		if ok && slices.Contains(dirs, part) {
			return name
		}
		if ok {
			all = append(all, name)
		}
	}
	if len(all) == 1 {
		return all[0]
	}
	return ""
}

// runnerOf finds the package manager in the directory or above it, where workspaces have
// their lock file.
func runnerOf(dir string) runner {
	for at := dir; ; at = filepath.Dir(at) {
		for _, r := range runners {
			if isFile(filepath.Join(at, r.lock)) {
				return r
			}
		}
		if at == filepath.Dir(at) {
			return runners[len(runners)-1]
		}
	}
}

// maker is the command that makes a path that is missing, to be run in the project's
// directory; "" if there is nothing that says it. path may be "", for an unknown one.
func maker(dir, path string) string {
	if ofInstall(path) {
		return runnerOf(dir).install
	}
	if command := ofPackage(dir, path); command != "" {
		return command
	}
	for _, c := range calls(dir, "deploy", "publish") {
		if c.builds != "" {
			return c.builds
		}
	}
	if command := buildCommand(dir, path); command != "" {
		return command
	}
	return ofPackageWithin(dir, path)
}

// ofPackageWithin is the build of the package that a path of the project is in, which a monorepo may
// have below the worker, as apps/mobile is for apps/mobile/dist; "" for none.
func ofPackageWithin(dir, path string) string {
	if path == "" || !within(dir, path) {
		return ""
	}
	for at := filepath.Dir(path); at != dir && within(dir, at); at = filepath.Dir(at) {
		rel, err := filepath.Rel(dir, at)
		if command := buildCommand(at, path); command != "" && err == nil && isFile(filepath.Join(at, "package.json")) {
			return "cd " + filepath.ToSlash(rel) + " && " + command
		}
	}
	return ""
}

// ofInstall reports whether a path is what the package manager writes.
func ofInstall(path string) bool {
	return slices.Contains(strings.Split(filepath.ToSlash(path), "/"), "node_modules")
}

// ofPackage is the build of the package that a path outside of the project is in, which a
// monorepo may have beside the worker; "" for none.
func ofPackage(dir, path string) string {
	if path == "" || within(dir, path) {
		return ""
	}
	for at := filepath.Dir(path); ; at = filepath.Dir(at) {
		if isFile(filepath.Join(at, "package.json")) {
			rel, err := filepath.Rel(dir, at)
			if command := buildCommand(at, path); command != "" && err == nil {
				return "cd " + filepath.ToSlash(rel) + " && " + command
			}
		}
		if within(at, dir) {
			return ""
		}
	}
}

// within reports whether path is dir or below it.
func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

func matches(dir string, patterns ...string) bool {
	for _, p := range patterns {
		if found, _ := filepath.Glob(filepath.Join(dir, p)); len(found) > 0 { // the pattern is valid
			return true
		}
	}
	return false
}

// BuildHint is what to do about a path of the project that is missing: a file or a directory
// below dir or elsewhere in a monorepo. The command is for the directory dir.
func BuildHint(dir, path string) string {
	command := maker(dir, path)
	switch {
	case ofInstall(path):
		return "install the packages first: " + command
	case command != "":
		return "build the project first: " + command
	}
	return "if a tool generates it, run the project's build first, or set build.command"
}

// madeByBuild reports what the build of the project adds: a note of a check, and a problem
// of a deploy. It is false for a project without a build, and after it. path is "" where the
// file does not name it.
func (l *layers) madeByBuild(f *File, at pos, what, path string) bool {
	command, by := maker(f.Dir, path), "the build of the project"
	if ofInstall(path) {
		by = "the package manager"
	}
	switch {
	case command == "" || f.Built(): // the build has written the file
		return false
	case l.flags.Unbuilt:
		f.ToBuild = command
		l.r.notices = append(l.r.notices, Notice{Info, l.r.at(at), what + " is what " + by + " writes: run " + command + " before a deploy"})
	default:
		l.r.problem(svc.CodeConfigInvalid, what, at, "%s is missing, which %s writes: run %s first", what, by, command)
	}
	return true
}

// unbuilt reports the files that are not there when a project is checked.
func (l *layers) unbuilt(f *File) {
	if n := l.get("main"); n != nil && l.flags.Entry == "" && f.Main != "" && !isFile(f.Main) && !l.madeByBuild(f, n.pos, n.text, f.Main) {
		l.r.problem(svc.CodeEntryMissing, "main", n.pos, "main names %s, which does not exist: %s", n.text, BuildHint(f.Dir, f.Main))
	}
	if f.ToBuild == "" && matches(f.Dir, "vite.config.*") && manifestOf(f.Dir).uses("@cloudflare/vite-plugin") {
		l.madeByBuild(f, l.top.pos, "the worker", "")
	}
	if f.Assets == nil || f.Assets.Dir == "" || isDir(f.Assets.Dir) {
		return
	}
	n, at := l.get("assets"), l.path("assets")
	if n == nil {
		n, at = l.get("pages_build_output_dir"), "pages_build_output_dir"
	}
	if n != nil && !l.madeByBuild(f, n.pos, display(f.Dir, f.Assets.Dir), f.Assets.Dir) {
		l.r.problem(svc.CodeAssetsMissing, at, n.pos, "the directory of the assets %s does not exist: %s, or correct %s", display(f.Dir, f.Assets.Dir), BuildHint(f.Dir, f.Assets.Dir), at)
	}
}
