// Package hostmain is the root of a runtime host: it joins the control line,
// the host of internal/host/workerhost, the shipped binding kinds and the version's
// data, in the process that the supervisor spawned.
package hostmain
