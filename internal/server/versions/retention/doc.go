// Package retention archives and destroys many versions: those that a filter of a client
// selects, those that SVC_KEEP_FAILED and SVC_KEEP_ARCHIVED do not keep, and those of a
// deleted project. The rules about a single version are in package lifecycle, which a
// Service calls. Production and pinned versions are never touched.
//
// Package httpapi and the janitor call a Service. It is safe for concurrent use and owns
// no goroutines. The package imports svc only.
package retention
