// Package control is the private line between the daemon and one runtime host:
// HTTP/2 over one connection that the host holds, with requests that run from the
// daemon to the host. The connection is the Unix socket pair that the host inherits
// as descriptor FD; any other that the host dials would do, TLS included.
//
// Three things travel on the line. A verb is a call with a name: POST /<verb>, with
// JSON in both directions. A notice is what the host reports without being asked;
// the daemon always has one request open that the next notice answers. Requests for
// the version's data pass through unchanged. The end of a request's context ends
// the context of its handler in the host. An idle line is silent.
//
// To add a verb, edit verbs.go: a method of Handler, its line in verbs, and a method
// of Client; a new type of argument or result goes to messages.go, or to svc when
// other packages use it too. To add a notice, add a field to Notice, which the host
// gives to Server.Tell and the daemon gets in Connect's callback.
//
// A svc.RuntimeSpec holds the values of a version's environment and the keys of the
// object store. The line is the only place where they travel: never through a file
// or a command line.
//
// Ownership: Connect and NewServer take their connection and close it.
// Concurrency: a Client and a Server are safe for concurrent use. Requests are
// independent: a ping waits neither for a start nor for a download. Failure: an
// error keeps its kind, code, detail and hint (svc.Error), the cause becomes text.
// The end of the line fails every request under way with ErrClosed.
package control
