// Package process is the driver for worker hosts that are processes of this machine: each is a
// process of our own binary in its own process group, with workerd as its child, and gets its
// control line by inheritance. It keeps spares.
//
// Ownership: a Process owns its process group, its run directory and its control group, and
// removes them when the worker host has ended. Concurrency: everything is safe for concurrent
// use. Failure: if the worker host or its workerd ends, the other ends too. When this process
// ends, the control line ends and each host exits (package hostmain).
package process
