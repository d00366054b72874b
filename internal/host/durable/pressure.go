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
	barAgain  = 10 * time.Millisecond // until an object that writes just now is tried again
	barEvery  = 100 * time.Millisecond
	muchLate  = 4096        // pages, 16 MiB, that objects may write in spite of the locks
	alarmSoon = time.Second // before an alarm is due
	lateFor   = time.Second
)

// bar keeps the writer from writing, or lets it. It reports whether that is so now.
func (o *openFiles) bar(path string, bar bool) bool {
	switch {
	case !bar && o.barred != nil:
		_ = o.barred.Close() // and the lock is gone
		o.barred = nil
	case bar && o.barred == nil:
		shm, err := os.OpenFile(path+"-shm", os.O_RDWR, 0)
		if err != nil {
			return true // it is being closed
		}
		if !lockWrites(shm) {
			_ = shm.Close()
			return false
		}
		o.barred = shm
	}
	return true
}

// press has objects follow the object store: they write unless it is late. It returns how soon to
// come again; 0 for no wish. It needs the mutex.
func (k *Keeper) press(ctx context.Context, wrote int) time.Duration {
	late := k.isLate()
	if late != k.late {
		k.late, k.wroteLate = late, 0
		k.tell(ctx)
	} else if !late && !k.lateSince.IsZero() {
		return barEvery
	} else if !late {
		return 0
	}
	again := k.bar(late)
	if !late {
		k.letGo()
		return 0
	}
	if k.wroteLate += wrote; k.brake == nil && k.pause != nil && (k.wroteLate > muchLate || k.alarmIsDue(ctx)) {
		k.stopAll(ctx)
	}
	return again
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

// bar bars all objects that are open, or lets them write.
func (k *Keeper) bar(bar bool) (again time.Duration) {
	again = barEvery
	for _, o := range k.objects {
		if o.live() && o.name != metadata && !o.files.bar(o.path, bar) {
			again = barAgain
		}
	}
	return again
}

func (k *Keeper) tell(ctx context.Context) {
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

// stopAll stops workerd until letGo.
func (k *Keeper) stopAll(ctx context.Context) {
	resume, err := k.pause()
	if err != nil {
		k.cfg.Logger.WarnContext(ctx, "cannot stop workerd while the object store is away; trying again", "error", err)
		return
	}
	k.brake = resume
	k.cfg.Logger.WarnContext(ctx, "the worker is stopped until the object store answers", "pages_written", k.wroteLate)
}

func (k *Keeper) letGo() {
	if k.brake != nil {
		k.brake()
		k.brake = nil
	}
}

// stopWorkerd stops workerd for a moment, or leaves it stopped.
func (k *Keeper) stopWorkerd() (resume func(), err error) {
	if k.brake != nil {
		return func() {}, nil
	}
	return k.pause()
}
