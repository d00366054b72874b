// Package supervisor keeps one runtime per version: a host process of our own
// binary in its own process group, with workerd as its child. It spawns it,
// asks it to prepare and serve over the control line, pings it, restarts it
// with backoff when it dies or hangs, gives up into StateCrashed, and stops it.
//
// Ownership: the daemon owns the Supervisor; the Supervisor owns every process
// and the directories below Config.RunDir. A host's data directory belongs to
// one host at a time, which the host itself makes sure of.
//
// Concurrency: all methods may be called at any time from any goroutine; those
// about one version are done one after another, and StopVersion interrupts the
// one that runs. OnChange is called in order for each version.
//
// Failure: a host and its workerd live and die together. When the daemon dies,
// hosts see the control line end and exit; see runtimed for the one place that
// decides so.
package supervisor
