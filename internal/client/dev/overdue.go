package dev

import (
	"context"
	"path/filepath"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/lib/machine"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	overdue    = 5 * time.Second // when a deploy takes long, most of which take some 50 ms
	minRoom    = 1 << 20         // bytes; with less, the server's disk counts as full
	roomPeriod = time.Second     // between two looks at the disk, after overdue
)

// deadline watches a deploy that takes long. It says so, because requests wait for the
// version, and ends the deploy if the disk is full: the server would wait for space. The
// caller calls stop.
func deadline(ctx context.Context, late func(), room func() (bytes int64)) (deploy context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		next := time.NewTimer(overdue)
		defer next.Stop()
		for told := false; ; told = true {
			select {
			case <-ctx.Done():
				return
			case <-next.C:
			}
			if room() < minRoom {
				cancel(svc.Errorf(svc.Unavailable, svc.CodeDiskFull, "the disk of the worker directory is full").
					WithHint("free disk space, and save again"))
				return
			}
			if !told {
				late()
			}
			next.Reset(roomPeriod)
		}
	})
	return ctx, func() {
		cancel(nil)
		done.Wait()
	}
}

// late says that a deploy takes long.
func (w *worker) late() {
	text := "the save takes long to start, and requests wait for it"
	if w.server.Own {
		text += " (log: " + filepath.Join(Dir, "dev.log") + ")"
	}
	w.out.note("%s", text)
}

// room is the free space for the server's data, in bytes; much if that is elsewhere or not
// known.
func (w *worker) room() int64 {
	disk, err := machine.DiskOf(w.folder.path)
	if !w.server.Own || err != nil {
		return minRoom
	}
	return disk.Free
}
