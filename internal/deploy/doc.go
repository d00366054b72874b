// Package deploy takes versions from the create call to ready: it accepts
// them, runs the pipeline of each queued job, and brings every version back
// when the daemon starts.
//
// The pipeline walks the statuses of [D15] in order, one compare-and-set of
// the registry per move, and resumes at the step that the version's status
// names: each step may run again at any time and ends in the same place. Work
// that is cut off by a shutdown is left for the next start; everything else
// that goes wrong ends the version as failed, with the reason [D16].
//
// The package also owns what the gateway knows about a version: the registry's
// status joined with the supervisor's endpoint. Nobody else publishes routes of
// versions; promote and the supervisor report through StatusChanged and
// RuntimeChanged.
//
// A Service is safe for concurrent use. It starts no goroutine that outlives
// a call, and owns the cache directory and nothing else on disk.
package deploy
