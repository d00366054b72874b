// Package deploy takes versions from the create call to ready: it accepts
// them, runs the pipeline of each queued job, and starts the ready versions
// again when the daemon starts.
//
// The pipeline passes the statuses of [D15] in order, one compare-and-set of
// the registry per transition, and resumes at the step that the version's status
// names: every step is idempotent. A shutdown leaves the version at its step for
// the next start; any other failure moves it to failed, with the reason [D16].
//
// The package alone publishes the routes of versions to the gateway: the status
// in the registry joined with the endpoint from the supervisor. Other services
// report through StatusChanged and RuntimeChanged.
//
// It imports package deployqueue for the jobs, bundle to unpack, objstore for the
// artifacts bucket and lib/keyed for one lock per version; package daemon
// implements the interfaces in Deps with the other services.
//
// A Service is safe for concurrent use. It starts no goroutine that outlives a
// call. On disk it owns the cache directory.
package deploy
