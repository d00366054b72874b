// Package version is the screen of one version, with a tab for each of its sides.
package version
