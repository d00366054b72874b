// Package saga runs a list of steps to one of two outcomes: all of them done, or
// all of them undone, whatever fails and wherever the process crashes.
//
// [Saga.Run] does the steps in order and writes each one into a [Journal]
// before and after. When a step fails, the decision to compensate is written
// first; then that step and the ones before it are undone, latest first.
// [Saga.Resume] continues a run that a crash interrupted: forward from the last
// finished step, or, when the journal holds a failure, with the compensation
// [D21]. Nothing is undone without a journal entry, so a resumed run never goes
// forward over a step that has been undone.
//
// A step's functions must be idempotent: after a crash the one that was
// running runs again. Undo must accept that Do never took effect.
//
// A run that can neither finish nor compensate returns an error that is
// [ErrIncomplete]; the journal then holds what Resume needs to try again.
//
// versions/promote defines the steps, server/registry implements the journal and
// package sagatest tests it; saga imports lib/failpoint.
//
// A Saga is a value without state of its own and safe for concurrent use; one
// journal belongs to one run at a time. Each step passes the failpoints
// "saga/<step>/<point>" with the points started (before Do), did (after Do),
// done, failed (before the first Undo), undid (after Undo) and undone.
package saga
