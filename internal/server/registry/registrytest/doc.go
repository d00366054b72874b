// Package registrytest opens real registries for tests and adds projects and
// versions in any status. Its functions fail the test instead of returning an error.
package registrytest
