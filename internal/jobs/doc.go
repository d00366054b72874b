// Package jobs holds the rules of the deploy queue and the loops that work it
// off.
//
// A [Store] keeps the jobs; a [Worker] claims them with a lease, extends the
// lease while a job runs, and gives the job back or finishes it. A job is
// delivered at least once: whoever runs it must be able to continue where an
// earlier attempt stopped. [Job.Attempt] says which one this is; giving up is
// the runner's decision [D25], which it carries out by returning nil.
//
// Worker.Start and Worker.Stop may be called from any goroutine. Stop waits
// for running jobs until its context ends, cancels them then, and puts what
// did not finish back into the queue without counting the attempt.
package jobs
