package esbuild

import "slices"

// NodeModules lists the names that count as Node's modules.
func NodeModules() []string { return slices.Clone(nodeModules) }

// GlobMatch matches a glob as rules do.
func GlobMatch(glob, path string, globstar bool) bool {
	return globPattern(glob, globstar).MatchString(path)
}
