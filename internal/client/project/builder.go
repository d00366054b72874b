package project

import (
	"encoding/json"
	"os"
	"path/filepath"

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

// runners are package managers by their lock file: how they run a script of package.json,
// and a program of a package.
//
//nolint:gochecknoglobals // a constant table
var runners = []struct{ lock, script, program string }{
	{"pnpm-lock.yaml", "pnpm run ", "pnpm exec "},
	{"yarn.lock", "yarn ", "yarn "},
	{"bun.lock", "bun run ", "bunx "},
	{"bun.lockb", "bun run ", "bunx "},
	{"package-lock.json", "npm run ", "npx "},
}

// BuildCommand is the command that builds the project of a directory; "" for a project that
// has neither a script for it nor the config of a tool with a build.
func BuildCommand(dir string) string {
	script, program := runner(dir)
	if matches(dir, "open-next.config.*") {
		return program + "opennextjs-cloudflare build"
	}
	data, _ := os.ReadFile(filepath.Join(dir, "package.json")) // a project may have none
	var manifest struct {
		Scripts map[string]string `json:"scripts"`
	}
	_ = json.Unmarshal(data, &manifest) // one that cannot be read has no scripts
	if manifest.Scripts["build"] != "" || matches(dir, builtBy...) {
		return script + "build"
	}
	return ""
}

// runner finds the package manager in the directory or above it, where workspaces have
// their lock file.
func runner(dir string) (script, program string) {
	for at := dir; ; at = filepath.Dir(at) {
		for _, r := range runners {
			if isFile(filepath.Join(at, r.lock)) {
				return r.script, r.program
			}
		}
		if at == filepath.Dir(at) {
			return "npm run ", "npx "
		}
	}
}

func matches(dir string, patterns ...string) bool {
	for _, p := range patterns {
		if found, _ := filepath.Glob(filepath.Join(dir, p)); len(found) > 0 { // the pattern is valid
			return true
		}
	}
	return false
}

// BuildHint is what to do about a file of the project that is not there.
func BuildHint(dir string) string {
	if command := BuildCommand(dir); command != "" {
		return "build the project first: " + command
	}
	return "if a tool generates it, run the project's build first, or set build.command"
}

// madeByBuild reports what the build of the project adds: a note of a check, and a problem
// of a deploy. It is false for a project without a build, and after it.
func (l *layers) madeByBuild(f *File, at pos, what string) bool {
	command := BuildCommand(f.Dir)
	switch {
	case command == "" || f.Dir != f.Root: // the build has written the file
		return false
	case l.flags.Unbuilt:
		f.ToBuild = command
		l.r.notices = append(l.r.notices, Notice{Info, l.r.at(at), what + " is what the build of the project writes: run " + command + " before a deploy"})
	default:
		l.r.problem(svc.CodeConfigInvalid, what, at, "%s is missing, which the build of the project writes: run %s first", what, command)
	}
	return true
}

// unbuilt reports the files that are not there when a project is checked.
func (l *layers) unbuilt(f *File) {
	if n := l.get("main"); n != nil && l.flags.Entry == "" && f.Main != "" && !isFile(f.Main) && !l.madeByBuild(f, n.pos, n.text) {
		l.r.problem(svc.CodeEntryMissing, "main", n.pos, "main names %s, which is not there", n.text)
	}
	if f.Assets == nil || f.Assets.Dir == "" || isDir(f.Assets.Dir) {
		return
	}
	n, at := l.get("assets"), l.path("assets")
	if n == nil {
		n, at = l.get("pages_build_output_dir"), "pages_build_output_dir"
	}
	if n != nil && !l.madeByBuild(f, n.pos, display(f.Dir, f.Assets.Dir)) {
		l.r.problem(svc.CodeAssetsMissing, at, n.pos, "the directory of the assets %s does not exist", display(f.Dir, f.Assets.Dir))
	}
}
