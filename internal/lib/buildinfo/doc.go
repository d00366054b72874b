// Package buildinfo says which build of a program runs: what the linker wrote for a release, else
// the version of the source with the commit that the Go toolchain recorded. Reading it never fails.
package buildinfo
