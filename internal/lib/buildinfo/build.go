package buildinfo

import (
	"cmp"
	"runtime"
	"runtime/debug"
	"strings"
)

// Set by the linker in releases: -X github.com/svcctl/svcctl/internal/lib/buildinfo.version=v1.2.3
//
//nolint:gochecknoglobals // the linker can only write to package variables
var (
	version = ""
	commit  = ""
	date    = ""
)

// number is the version of this source: the last section of CHANGELOG.md. make release-notes sets it.
const number = "v0.1.0"

// shortCommit is the length of a commit in a version.
const shortCommit = 12

// Build says which build of the program runs.
type Build struct {
	Version string `json:"version"` // "v1.2.3" of a release, "v1.2.3+<commit>" of another build
	Commit  string `json:"commit"`  // of the source; "" when unknown
	Date    string `json:"date"`    // of the commit, RFC 3339; "" when unknown
	Go      string `json:"go"`      // toolchain
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

// Read describes this build: the values set by the linker, or else those that the
// Go toolchain recorded.
func Read() Build {
	b := Build{Version: version, Commit: commit, Date: date, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	b.fill(info)
	return b
}

// fill sets empty fields from the record of the toolchain.
func (b *Build) fill(info *debug.BuildInfo) {
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	b.Commit = cmp.Or(b.Commit, settings["vcs.revision"])
	b.Date = cmp.Or(b.Date, settings["vcs.time"])
	if v := info.Main.Version; b.Version == "" && released(v) { // go install …@v1.2.3
		b.Version = v
	}
	b.Version = cmp.Or(b.Version, unreleased(settings["vcs.revision"], settings["vcs.modified"] == "true"))
}

// released reports whether the toolchain's version of a module is that of a tag. The others are those of
// commits after one ("-0.2026…"), of changed sources ("+dirty") and "(devel)".
func released(v string) bool { return strings.HasPrefix(v, "v") && !strings.ContainsAny(v, "-+") }

// unreleased is the version of a build from a commit. "+" begins what does not order versions.
func unreleased(commit string, changed bool) string {
	switch {
	case commit == "":
		return number
	case changed:
		return number + "+" + commit[:min(len(commit), shortCommit)] + ".dirty"
	}
	return number + "+" + commit[:min(len(commit), shortCommit)]
}
