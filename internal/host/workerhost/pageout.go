package workerhost

import (
	"context"
	"errors"
	"os"
	"runtime/debug"

	"github.com/svcctl/svcctl/internal/lib/pageout"
	"github.com/svcctl/svcctl/internal/svc"
)

// PageOut moves the memory of this process and of workerd to swap: each by itself, which spares
// the pages of the program that all workerds share, or else both by their control group.
func (h *Host) PageOut(context.Context) (svc.PagedOut, error) {
	w := h.running()
	if w == nil || !w.serving.Load() {
		return svc.PagedOut{}, errNotServing()
	}
	debug.FreeOSMemory() // what is free need not be written anywhere
	own, worker := newMeter(os.Getpid()), newMeter(w.pid())
	defer own.close()
	defer worker.close()
	before := own.bytes() + worker.bytes()
	done := svc.PagedOut{Way: svc.PageOutProcesses}
	err := pageout.Out(w.pid())
	if pageout.Denied(err) {
		done.Way, err = svc.PageOutGroup, w.group.Reclaim()
	}
	if errors.Is(err, errors.ErrUnsupported) || pageout.Denied(err) {
		done.Way, err = svc.PageOutHost, nil
	}
	if done.Way != svc.PageOutGroup {
		err = errors.Join(err, pageout.Out(os.Getpid()))
	}
	if errors.Is(err, errors.ErrUnsupported) { // not Linux: the kernel decides alone
		err = nil
	}
	done.Bytes = max(0, before-own.bytes()-worker.bytes())
	return done, err
}
