// Package supervisor runs one runtime per version: a worker host with workerd as its
// child. It takes the host from a driver, sends it the verbs of the control line, pings
// it, restarts it after each crash or hang with a growing wait and without end, and stops
// it. Where the host runs, only the driver knows (package fleet/driver).
//
// Services of the server use it through the interfaces that they declare; package
// daemon connects them. It imports package host/control for the control line.
//
// Ownership: the Supervisor owns every worker host that it takes from the driver. The
// host ensures that its data directory has one host at a time.
//
// Concurrency: all methods are safe for concurrent use. The operations of one version
// run one after another, restarts included; StopVersion interrupts the running one.
// Only the running one publishes states. OnChange is called in order for each version.
//
// Failure: if the host or its workerd ends, the other ends too. When the daemon ends,
// the control line ends and each host exits (package hostmain).
package supervisor
