// Package checkup checks an installation from the inside: disk, limits, clock, workerd and
// the properties of the object store. svcctl doctor shows the result.
//
// Each check is one small file with a test that makes it fail. Concurrent callers of Run
// share one execution. Package daemon wires the checks; httpapi calls Run.
package checkup
