// Package control is the private line between the daemon and one runtime host:
// JSON lines, both ways, over a Unix socket pair that the host inherits as
// descriptor FD. The daemon asks, the host answers; beside the answers the host
// reports when its workerd exits by itself.
//
// Spec travels here because it holds the values of a version's environment:
// they touch no disk and no command line.
//
// Ownership: Connect and NewServer take their connection and close it.
// Concurrency: a Client and a Server are safe for concurrent use; requests are
// answered in any order, so a ping does not wait for a start. Failure: an error
// keeps its kind, code, detail and hint on the way (svc.Error). The end of the
// line fails every request under way with ErrClosed.
package control
