// Package cputime reads the processor time of processes, and what they wait for.
//
// The worker host and package supervisor limit the starts of workers by it, and the metrics of
// versions have it.
package cputime

// Disk is what a thread has done so far.
type Disk struct {
	Written int64 // bytes, to files; not to pipes and sockets
	Waits   int64 // how often it slept, for the disk or anything else
	Waiting bool  // it waits for the disk now
}

// writtenPerWait is more than SQLite writes between two waits for the disk when each of its
// commits is synced: about 4 KiB for small commits. Writes that are not synced wait rarely.
const writtenPerWait = 64 << 10

// Since reports whether the thread waits for the disk now, or wrote and waited since before: a
// loop without an end writes nothing, or writes without waiting.
func (d Disk) Since(before Disk) bool {
	written, waits := d.Written-before.Written, d.Waits-before.Waits
	return d.Waiting || written > 0 && waits > written/writtenPerWait
}
