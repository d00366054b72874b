// Package workflow is the binding kind "workflow": instances that run the worker's class step
// by step and remember each step that has ended.
//
// The worker host is the store and the clock, and JavaScript in workerd the engine: a run calls
// steps by JS RPC, which only a worker of the same process can speak (engine.js). A run replays the steps that have ended from their records, does the
// next ones and stores each result before the next step begins. A run that only waits ends; the next
// one begins when the wait is over. So an instance that sleeps is a row, and one timer waits
// for all of them.
//
// Ownership: all workflows of a version are rows of its database "own-workflow", which no
// child inherits, but for one that a release made: there the instances continue, those that ran at
// the cut as after the end of a process. Rows of finished instances are deleted after their retention: when a
// workflow opens, and some with each instance that is created.
//
// Concurrency: an engine is safe for concurrent use. Every change of an instance is one
// transaction of the one connection that writes; a run that is over stores nothing more, as
// its records and its end pass there one after another. engine.mu is never held over a
// write, but it may be locked inside of one.
//
// Failure: a run that died (with workerd, the worker host or the machine) begins again. A
// step that was under way has failed once; a run without progress is tried again with
// growing pauses, and fails after ten.
package workflow
