package hostmain

import (
	"context"
	"errors"
	"sync"

	"github.com/svcctl/svcctl/internal/data/dataplane"
	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/svc"
)

// seal is how far a release has come in the worker host of the version that is production.
type seal struct {
	mu     sync.Mutex // held by each step
	paused bool
	data   *dataplane.Sealed // nil unless sealed
	resume func()            // lets workerd continue, which objects stop; nil unless sealed with them
}

// Seal implements workerhost.Resources.
func (r resources) Seal(ctx context.Context, s control.Seal) (done control.Sealing, err error) {
	r.seal.mu.Lock()
	defer r.seal.mu.Unlock()
	switch s.State {
	case control.SealAhead:
		return r.shipAhead(ctx)
	case control.SealPaused:
		return r.pauseEvents(ctx, s)
	case control.SealSealed:
		return r.sealData(ctx)
	case control.SealReleased:
		if r.seal.data == nil {
			return done, svc.Errorf(svc.Conflict, svc.CodeReleaseInterrupted, "the data is not sealed")
		}
		r.seal.data.Refuse(released())
		done.Refused = r.volumes.Refused()
		return done, nil
	case control.SealUndone:
		return done, r.unseal(ctx)
	}
	return done, svc.Errorf(svc.Unprocessable, svc.CodeInvalidRelease, "unknown state %q of a release", s.State)
}

// released is the error of a write after the release.
func released() error {
	return svc.Errorf(svc.Unavailable, svc.CodeVersionReleased, "another version continues with the data of this one").
		WithHint("send the request again: it reaches production")
}

// shipAhead does what need not be done while requests wait.
func (r resources) shipAhead(ctx context.Context) (done control.Sealing, err error) {
	if err := r.volumes.OpenOwn(ctx); err != nil {
		return done, notStored(err)
	}
	if done.Unfinished, err = r.Unfinished(ctx); err != nil {
		return done, err
	}
	return done, notStored(r.volumes.Ship(ctx))
}

// notStored returns err, which has no code, as one that says that a repeat may help.
func notStored(err error) error {
	if err == nil || errors.As(err, new(*svc.Error)) {
		return err
	}
	return svc.Errorf(svc.Unavailable, svc.CodeStoreUnavailable, "what production wrote is not in the object store; production is unchanged").
		WithHint("release again when GET /v1/health/deep says that the object store answers").Because(err)
}

// pauseEvents returns what still runs when the time is over.
func (r resources) pauseEvents(ctx context.Context, s control.Seal) (done control.Sealing, err error) {
	r.seal.paused = true
	waiting, cancel := context.WithTimeout(ctx, s.Drain)
	defer cancel()
	done.Running = r.Pause(waiting, s.Interrupt)
	return done, nil
}

// sealData returns the cut at which the new version begins. When it fails, writes continue.
func (r resources) sealData(ctx context.Context) (done control.Sealing, err error) {
	if r.seal.data != nil {
		return done, svc.Errorf(svc.Conflict, svc.CodePromoteInProgress, "the data is sealed already")
	}
	if !r.seal.paused { // an end of the line to the daemon has let events begin again
		return done, svc.Errorf(svc.Conflict, svc.CodeReleaseInterrupted, "events of production are not paused").WithHint("release again")
	}
	stage := func() (err error) { r.seal.data, err = r.volumes.Seal(ctx); return err }
	if r.objects != nil {
		r.seal.resume, err = r.objects.Seal(ctx, stage)
	} else {
		err = stage()
	}
	done.Stopped = r.seal.resume != nil
	if err == nil {
		done.Cut.Databases, done.Cut.Warm, err = r.seal.data.Ship(ctx)
		err = notStored(err)
	}
	if err == nil {
		err = r.countMoved(ctx, &done)
	}
	if err != nil {
		return control.Sealing{}, errors.Join(err, r.unseal(ctx))
	}
	return done, nil
}

// countMoved counts what the new version continues.
func (r resources) countMoved(ctx context.Context, done *control.Sealing) (err error) {
	if done.Unfinished, err = r.Unfinished(ctx); err != nil || r.objects == nil {
		return err
	}
	done.Alarms, err = r.objects.Alarms(ctx)
	return err
}

// unseal has writes and events continue.
func (r resources) unseal(ctx context.Context) error {
	if r.seal.data != nil {
		r.seal.data.Open()
		r.seal.data = nil
	}
	if r.seal.resume != nil {
		r.seal.resume()
		r.seal.resume = nil
	}
	if !r.seal.paused {
		return nil
	}
	r.seal.paused = false
	return r.Resume(ctx)
}

// refuse ends the wait of writes in a process that ends.
func (s *seal) refuse(reason error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.data != nil {
		s.data.Refuse(reason)
	}
}

// Positions implements workerhost.Resources.
func (r resources) Positions() control.Positions { return r.volumes.Positions() }
