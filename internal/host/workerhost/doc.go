// Package workerhost is the inside of a runtime host, the process that each
// version has beside its workerd: it opens the version's resources, serves them
// to workerd on a private socket, composes workerd's config, runs workerd and
// keeps the worker's log. It is not in the path of the worker's own requests.
//
// Ownership: a Host owns its workerd, its resources, and what it makes in the
// run directory; the run directory itself is the supervisor's. One host at a
// time owns a data directory: a lock in it makes sure. Warm starts workerd before the
// version is known; Open hands it the config.
//
// Concurrency: a Host answers pings and a Stop while it starts. Failure: a Host
// whose workerd dies is of no more use; Done says so.
//
// Secrets: a version's variables are in the memory of the host and of workerd.
// On linux they touch no disk; elsewhere workerd's config is a file of mode
// 0600 in the private run directory until workerd has read it.
package workerhost
