// Package unmerged has the words about what one version wrote and another one lacks, for the
// command line and for svcctl ui.
package unmerged
