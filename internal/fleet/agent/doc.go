// Package agent runs worker hosts for a daemon on another machine: it is the command svcd host.
//
// An Agent has one seat for each worker host that the machine offers. A seat dials the daemon,
// shows the join token, and answers the daemon's control line: it starts a worker host on this
// machine, with package process as a daemon does for its own, and passes every verb on to it.
// The worker host itself does not know where its daemon is.
//
// What a daemon sees on its own machine, the seat brings over the line: the use of memory,
// connections to the worker, the calls that the worker makes to others, and its log. The seat
// fetches the bundle from the object store, and keeps the version's data below the directory
// of the agent.
//
// With Config.Listen the machine has a port where gateways reach its versions without the daemon's
// machine. Package direct decides which requests it admits, by permits of the daemon.
//
// Failure: when the line ends, a seat with a version serves on and dials again until the daemon
// takes it back, or says that the version is another's. A worker host that is fenced ends by
// itself. When the agent ends, its worker hosts end.
//
// Concurrency: Run is called once; seats are independent.
package agent
