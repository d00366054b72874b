// Package e2e tests the program as its users run it: the real binary, a real
// workerd, the embedded object store, real files and real kills. Its tests have
// the build tag e2e; make test runs them.
package e2e
