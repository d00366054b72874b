package driver

import (
	"context"
	"time"

	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/lib/cputime"
	"github.com/svcctl/svcctl/internal/svc"
)

// Driver gives versions their worker hosts. It is safe for concurrent use.
type Driver interface {
	// Start removes what an earlier daemon left. The supervisor calls it once, before Take.
	Start() error
	// Begin and End enclose each launch of a version: spares are not started meanwhile.
	Begin()
	End()
	// Take returns a worker host for spec, which may be opened once. spare reports whether it
	// was ready before. fresh asks for one that was not, where there is a choice: because a
	// spare has just failed, or because the version is archived.
	Take(ctx context.Context, spec svc.RuntimeSpec, fresh bool) (h Host, spare bool, err error)
	// Spares returns how many worker hosts wait for a version.
	Spares() int
	// Stop ends the worker hosts that were not taken.
	Stop()
}

// Host is one worker host, from its start until Exited is closed. The caller of Take owns it
// and ends it with Kill, or by the verb stop. It is safe for concurrent use.
type Host interface {
	// Client is the daemon's end of the control line.
	Client() *control.Client
	// Keep waits until the host is the version's for good, which Take may only have begun. Call it after
	// the version was opened, or when the host has ended. After an error the host ends;
	// control.ErrClosed means that another one may be taken.
	Keep(ctx context.Context) error
	// Hear sets what gets the notices, those that came before included. Call it once; heard
	// must not block.
	Hear(heard func(control.Notice))
	// Fill returns s with the paths that this place decides.
	Fill(s svc.RuntimeSpec) svc.RuntimeSpec
	// Dir is a private directory of the daemon's machine with a short path, for sockets. It is
	// removed before Exited is closed.
	Dir() string
	// PID is the process of a worker host on the daemon's machine; 0 for one on another machine.
	PID() int
	// Locate returns where the daemon's machine reaches a worker that serves at e, as its host
	// reports it.
	Locate(ctx context.Context, e svc.Endpoint) (svc.Endpoint, error)
	// Exited is closed when the worker host has ended and everything of it was removed, or when
	// the driver has lost it.
	Exited() <-chan struct{}
	// End says how it ended. Call it after Exited was closed.
	End() End
	// Kill ends the worker host and its workerd, and does not wait for that. Idempotent.
	Kill()
	// Work returns the processor time that workerd has used; 0 if it is unknown, which counts
	// as work.
	Work() time.Duration
	// Thread returns what workerd's thread has done; ok is false if it is unknown.
	Thread() (t cputime.Thread, ok bool)
	// Usage measures the worker host and its workerd, which serves.
	Usage() Usage
}

// End is the end of a worker host.
type End struct {
	State string // for people: "signal: killed"
	// Err is the reason that the place has seen, such as a limit of memory; nil for none. A
	// reason that the host itself has reported precedes it.
	Err error
}

// Usage is what a worker host and its workerd use together; fields are 0 if unknown.
type Usage struct {
	RSSBytes    int64
	Descriptors int
	CPU         time.Duration // since they began
}
