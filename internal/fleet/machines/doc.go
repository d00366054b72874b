// Package machines is the driver for worker hosts on other machines: SVC_RUNTIME=remote. It starts
// none. Machines that an operator runs dial the daemon (package agent), and each connection is a
// worker host that waits for a version.
//
// To the supervisor such a host looks like one of this machine. The sockets of a worker are
// sockets in a run directory here, whose connections are carried to the machine. The calls that
// a worker makes are carried back to the sockets where package calls listens, and its log is
// written to the log directory of its version.
//
// Failure: a host whose line ends may dial again for the time of Config.Silence; connections
// wait meanwhile. After that it is lost: the supervisor opens the version on another machine,
// where the log of the data fences the lost one. A machine that dials with a version that is
// not its own any more ends it.
//
// A machine may listen for gateways itself (package direct). Permits say for which host names: the
// caller grants and revokes them. A host ends no earlier than its permits, so the supervisor opens a
// version elsewhere only when its machine admits no more requests.
//
// Who may join, and which spare a version gets, is decided by a Policy alone.
//
// Concurrency: everything is safe for concurrent use.
package machines
