// Package janitor runs the periodic maintenance of the daemon. A janitor is a task with
// a name, an interval and a RunOnce. Each has its own file:
//
//   - [Sweep] collects garbage in the object store, [Audit] audits it
//   - [Cleanup] completes interrupted archives and purges
//   - [Events] deletes old events
//   - [Health] publishes changes of the server's health
//   - [Previews] archives replaced versions of previews
//   - [Domains] takes away own host names whose proof is gone
//   - [Idle] archives idle versions
//   - [Sleep] stops the runtimes of idle versions
//   - [PageOut] moves the memory of idle versions to swap
//   - [Recycle] gives new processes to idle versions with much memory
//   - [Retention] destroys versions that are not kept
//   - [Requests] writes the times of the last requests
//
// A [Service] runs its tasks concurrently, each in a goroutine, one run of a task at a
// time, at its interval plus or minus a tenth, so that daemons do not run in step. A
// failed run is logged, counted, and repeated after the interval (or Task.Retry). Stop
// cancels running tasks and waits for them. Stop the services that a task calls before
// the Service, because their verbs do not end with their caller.
//
// The rules are in packages gc, lifecycle, preview and sleep, whose Services package daemon passes to
// the tasks. The package imports lib/service. docs/checklists/add-a-janitor.md says how
// to add a task.
package janitor
