// Package deployqueue runs the jobs of the deploy queue.
//
// A [Store] keeps the jobs; a [Worker] claims them with a lease, extends the
// lease while a job runs, and finishes the job or puts it back. A job is delivered
// at least once, so Run must continue where an earlier attempt stopped. Run decides
// by [Job.Attempt] when to abandon a job [D25], and does so by returning nil.
//
// A job that waits for an event returns a [SnoozeError]: its loop claims other jobs,
// and the job is claimed again after the event. At most Config.Loops jobs run
// concurrently; the number of waiting jobs has no limit.
//
// Package registry implements the Store, package deploy the Run. The package
// imports lib/service for its goroutines.
//
// A Worker is safe for concurrent use and owns its goroutines. Stop waits for
// running jobs until its context ends, then cancels them and puts unfinished jobs
// back into the queue without counting the attempt.
package deployqueue
