// Package cputime reads the processor time of processes, and what they wait for.
//
// The worker host and package supervisor limit the starts of workers by it, and the metrics of
// versions have it.
package cputime

import "time"

// Thread is what a thread has done so far.
type Thread struct {
	Written int64 // bytes, to files; not to pipes and sockets
	Waits   int64 // how often it slept, for the disk or anything else
	Waiting bool  // it waits for the disk now

	Ran, Queued time.Duration // on a processor, and in the queue for one; 0 if not counted
}

// writtenPerWait is more than SQLite writes between two waits for the disk when each of its
// commits is synced: about 4 KiB for small commits. Writes that are not synced wait rarely.
const writtenPerWait = 64 << 10

// Starved reports whether the thread waited for a processor for longer than it ran since before,
// and for a good part of the time that has passed.
func (t Thread) Starved(before Thread, passed time.Duration) bool {
	queued := t.Queued - before.Queued
	return queued > t.Ran-before.Ran && queued > passed/4
}

// OnDisk reports whether the thread waits for the disk now, or wrote and waited since before: a
// loop without an end writes nothing, or writes without waiting.
func (t Thread) OnDisk(before Thread) bool {
	written, waits := t.Written-before.Written, t.Waits-before.Waits
	return t.Waiting || written > 0 && waits > written/writtenPerWait
}
