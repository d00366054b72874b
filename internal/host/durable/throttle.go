package durable

import (
	"context"
	"os"
	"time"
)

// While the object store is away for long, writes to databases are rejected. Objects must not write
// either: a lost machine takes what only it has. workerd does not ask before it writes, so the Keeper
// takes the lock that SQLite needs for a write from every object that is open. Writes fail, reads do
// not. Two things remain that a lock does not stop, so workerd as a whole is stopped for them:
// a due alarm, whose handler would fail until workerd gives it up, and writes that objects make in
// the moment in which they are opened, once they are many.
const (
	blockAgain   = 10 * time.Millisecond // until an object that writes just now is tried again
	blockEvery   = 100 * time.Millisecond
	maxPagesLate = 4096        // 16 MiB that objects may write in spite of the locks
	alarmSoon    = time.Second // before an alarm is due
	lateFor      = time.Second
)

// blockWrites keeps the writer from writing, or lets it write. It reports whether that is so now.
func (o *openFiles) blockWrites(path string, block bool) bool {
	switch {
	case !block && o.writeLock != nil:
		_ = o.writeLock.Close() // and the lock is gone
		o.writeLock = nil
	case block && o.writeLock == nil:
		shm, err := os.OpenFile(path+"-shm", os.O_RDWR, 0)
		if err != nil {
			return true // it is being closed
		}
		if !lockWrites(shm) {
			_ = shm.Close()
			return false
		}
		o.writeLock = shm
	}
	return true
}

// throttle lets objects write unless the object store is late. wrote is how many pages they wrote since the last
// call. It returns how soon to call it again; 0 for no wish. It needs the mutex.
func (k *Keeper) throttle(ctx context.Context, wrote int) time.Duration {
	late, wasLate := k.isLate(), k.late
	if late != wasLate {
		k.late, k.pagesLate = late, 0
		k.logState(ctx)
	}
	switch {
	case late:
		again := k.blockWrites(true)
		if k.pagesLate += wrote; k.mustStop(ctx) {
			k.stopAll(ctx)
		}
		return again
	case wasLate:
		k.blockWrites(false)
		k.resumeAll()
	case !k.lateSince.IsZero():
		return blockEvery
	}
	return 0
}

// mustStop reports whether blocked writes are not enough: workerd has to be stopped.
func (k *Keeper) mustStop(ctx context.Context) bool {
	return k.resume == nil && k.pause != nil && (k.pagesLate > maxPagesLate || k.alarmIsDue(ctx))
}

// isLate reports whether the object store is late and was for a moment: that of a process that was
// suspended may be up to date in one.
func (k *Keeper) isLate() bool {
	switch {
	case !k.db.Late():
		k.lateSince = time.Time{}
	case k.lateSince.IsZero():
		k.lateSince = time.Now()
	}
	return !k.lateSince.IsZero() && time.Since(k.lateSince) >= lateFor
}

// blockWrites keeps all objects that are open from writing, or lets them write. It returns how soon to call it
// again.
func (k *Keeper) blockWrites(block bool) (again time.Duration) {
	again = blockEvery
	for _, o := range k.objects {
		if o.live() && o.name != metadata && !o.files.blockWrites(o.path, block) {
			again = blockAgain
		}
	}
	return again
}

// logState says whether writes of objects fail.
func (k *Keeper) logState(ctx context.Context) {
	if k.late {
		k.cfg.Logger.WarnContext(ctx, "the object store has accepted nothing for long; writes of durable objects fail until it does")
	} else {
		k.cfg.Logger.InfoContext(ctx, "the object store has everything that durable objects wrote; they may write again")
	}
}

func (k *Keeper) alarmIsDue(ctx context.Context) bool {
	at, err := k.nextAlarm(ctx)
	return err == nil && !at.IsZero() && time.Until(at) < alarmSoon
}

// stopAll stops workerd until resumeAll.
func (k *Keeper) stopAll(ctx context.Context) {
	resume, err := k.pause()
	if err != nil {
		k.cfg.Logger.WarnContext(ctx, "cannot stop workerd while the object store is away; trying again", "error", err)
		return
	}
	k.resume = resume
	k.cfg.Logger.WarnContext(ctx, "the worker is stopped until the object store answers", "pages_written", k.pagesLate)
}

// resumeAll lets workerd run again, if stopAll has stopped it.
func (k *Keeper) resumeAll() {
	if k.resume != nil {
		k.resume()
		k.resume = nil
	}
}

// stopWorkerd stops workerd for a moment, or leaves it stopped.
func (k *Keeper) stopWorkerd() (resume func(), err error) {
	if k.resume != nil {
		return func() {}, nil
	}
	return k.pause()
}
