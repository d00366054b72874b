// Package direct admits requests on the machine of a version, so that gateways reach it without the
// daemon's machine: it is what package relay asks there.
//
// A Gate belongs to one worker host. The daemon says by permits (control.Permit) for which host
// names the version may answer; the gate counts the requests that it has admitted, and tells the
// daemon with each answer.
//
// # When a gate is open
//
// A permit is valid for a time after an answer of the gate that the daemon has heard. The time
// begins when the gate gave the answer, so it ends before the daemon believes that it ends, however
// late messages arrive. A gate without a valid permit admits nothing: a daemon that cannot reach the
// machine waits until then, and opens the version elsewhere or sends its host name to another one.
// Requests that were admitted before continue.
//
// A permit of a daemon whose line has ended is refused. The next daemon's first permit replaces
// that of the one before, and takes over the requests in progress.
//
// # Ownership and failure
//
// Gates lists the gates of a machine for its relay. Close ends a gate for good: before its worker
// stops. All types are safe for concurrent use; no method blocks, except Permit as it says.
package direct
