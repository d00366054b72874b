// Package daemon wires the server: it creates the services from the settings, connects
// them, starts them in order and stops them in reverse. It holds no rules: a condition
// on versions belongs to a service.
//
// Files: parts (what the services need), services, fork, janitor, servers (the two
// ports), work (background work). The others hold the daemon's own parts: its data
// directory and secrets, the object store that it connects to or runs, and its
// ownership of data there.
//
// One daemon owns a data directory, by a lock file. Start returns when everything
// serves; Stop waits for running work. A failure after the start is reported by Failed.
//
// program/serve starts a Daemon. All other packages of the server wing are services,
// which declare the interfaces that they need; package daemon implements these with
// other services.
package daemon
