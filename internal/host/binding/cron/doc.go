// Package cron is the kind "cron": the cron expressions of a version, on which its
// worker's scheduled handler runs. Nothing in the worker's env names them.
//
// While the version is armed, one goroutine sleeps until the next run is due. Runs that
// were due while the version was not armed, or while the machine slept, are not made up
// for. The journal, a database of the version alone, has each run before it begins, so
// that no run begins twice: not after a crash, and not when the clock is set back. A run
// that a crash cut off is repeated once, soon after, unless the worker called
// controller.noRetry().
package cron
