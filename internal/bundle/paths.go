package bundle

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The paths in a bundle.
const (
	manifestFile  = "manifest.json"
	modulesDir    = "modules/"
	migrationsDir = "migrations/"
	seedsDir      = "seed/"
	sourceMapsDir = "sourcemaps/"
	assetsDir     = "assets/"
)

const (
	maxPath    = 1024 // bytes
	maxElement = 255  // bytes; the limit of file systems
)

// ModulePath is where a module of this name is stored in a bundle.
func ModulePath(name string) string { return modulesDir + name }

// SourceMapPath is where the source map of a module is stored.
func SourceMapPath(module string) string { return sourceMapsDir + module + ".map" }

// MigrationPath is where a migration of a database binding is stored.
func MigrationPath(binding, name string) string { return migrationsDir + binding + "/" + name }

// SeedPath is where a seed file of this name is stored: <binding>.<ext>, or
// <binding>/<name>.
func SeedPath(name string) string { return seedsDir + name }

// badPath returns why p is not a valid path of a bundle, or "". Valid paths are
// relative, clean, with forward slashes, and free of control characters.
func badPath(p string) string {
	switch {
	case p == "":
		return "is empty"
	case len(p) > maxPath:
		return "is longer than 1024 bytes"
	case !utf8.ValidString(p):
		return "is not UTF-8"
	case strings.HasPrefix(p, "/"):
		return "is absolute"
	case strings.Contains(p, `\`):
		return "has a backslash"
	case strings.ContainsFunc(p, unicode.IsControl):
		return "has a control character"
	}
	for element := range strings.SplitSeq(p, "/") {
		if element == ".." {
			return "leaves the bundle"
		}
		if len(element) > maxElement {
			return "has a name longer than 255 bytes"
		}
	}
	if path.Clean(p) != p || p == "." {
		return "is not in its shortest form"
	}
	return ""
}
