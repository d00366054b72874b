package buildinfo

import (
	"cmp"
	"runtime"
	"runtime/debug"
)

// Set by the linker in releases: -X github.com/svcctl/svcctl/internal/lib/buildinfo.version=v1.2.3
//
//nolint:gochecknoglobals // the linker can only write to package variables
var (
	version = ""
	commit  = ""
	date    = ""
)

// Build says which build of the program runs.
type Build struct {
	Version string `json:"version"` // "v1.2.3", or "devel"
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
	if info, ok := debug.ReadBuildInfo(); ok {
		b.fill(info)
	}
	b.Version = cmp.Or(b.Version, "devel")
	return b
}

// fill sets empty fields from the record of the toolchain.
func (b *Build) fill(info *debug.BuildInfo) {
	if b.Version == "" && info.Main.Version != "(devel)" {
		b.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && b.Commit == "":
			b.Commit = s.Value
		case s.Key == "vcs.time" && b.Date == "":
			b.Date = s.Value
		}
	}
}
