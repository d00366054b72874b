package kube

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	coordination "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/svcctl/svcctl/internal/lib/backoff"
)

// The times of a Lease. A leader that has not renewed it for renewLimit stops serving, before
// another one may take it.
const (
	leaseTime  = 6 * time.Second
	renewLimit = 4 * time.Second
	renewEvery = time.Second
	leaseCall  = 2 * time.Second // the limit of one request
)

// Leadership is the hold of a Lease. It ends with Lost or Release.
type Leadership struct {
	client *Client
	log    *slog.Logger
	name   string
	id     string

	// fence reports whether no other server has taken over although the API server says nothing.
	fence  atomic.Pointer[func() bool]
	fresh  atomic.Int64 // nanoseconds between begun and the request that has renewed the lease last
	begun  time.Time
	lost   chan struct{}
	cancel context.CancelFunc
	done   chan struct{}
	once   sync.Once

	unannounced atomic.Pointer[string] // the pod of an announcement that has failed; nil for none
}

// Lead waits until this process, known as id, holds the Lease name. It waits as long as another
// holder renews it: by the clock of this process alone, so clocks may differ.
func Lead(ctx context.Context, c *Client, name, id string, log *slog.Logger) (*Leadership, error) {
	l := &Leadership{client: c, log: log.With("lease", name, "id", id), name: name, id: id, begun: time.Now(), lost: make(chan struct{}), done: make(chan struct{})}
	for seen := (sighting{}); ; {
		l.fresh.Store(int64(time.Since(l.begun)))
		held, err := l.try(ctx, &seen)
		if held {
			break
		}
		if err != nil && ctx.Err() == nil {
			seen = sighting{} // while the API server is away, its holder cannot renew it either
			l.log.WarnContext(ctx, "taking the lease failed; retrying", "error", err)
		}
		if backoff.Sleep(ctx, renewEvery) != nil {
			return nil, context.Cause(ctx)
		}
	}
	l.log.InfoContext(ctx, "this server leads")
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	l.cancel = cancel
	go l.keep(own)
	return l, nil
}

// Lost is closed when the lease may be another's.
func (l *Leadership) Lost() <-chan struct{} { return l.lost }

// IsFresh reports whether this process has renewed the lease so lately that no other one can have it.
func (l *Leadership) IsFresh() bool {
	return time.Since(l.begun)-time.Duration(l.fresh.Load()) < renewLimit
}

// Trust has the leader serve on while the API server is away, as long as held returns true: the
// object store says that no other server has taken over. Without it the leader stops after
// renewLimit.
func (l *Leadership) Trust(held func() bool) { l.fence.Store(&held) }

// isFenced reports whether another server may have taken over while the API server is away.
func (l *Leadership) isFenced() bool {
	held := l.fence.Load()
	return held == nil || !(*held)()
}

// Release gives the lease up, so that another server need not wait. Idempotent.
func (l *Leadership) Release(ctx context.Context) {
	l.once.Do(func() {
		l.cancel()
		<-l.done
		ctx, cancel := context.WithTimeout(ctx, leaseCall)
		defer cancel()
		lease, err := l.read(ctx)
		if err == nil && holder(lease) == l.id {
			none, second := "", int32(1)
			lease.Spec.HolderIdentity, lease.Spec.LeaseDurationSeconds = &none, &second
			err = l.update(ctx, lease)
		}
		if err != nil {
			l.log.WarnContext(ctx, "the lease cannot be released; it expires", "error", err)
		}
	})
}

// sighting is when this process has seen a state of the lease for the first time.
type sighting struct {
	revision string
	at       time.Time
}

// try takes the lease if it is free or has expired.
func (l *Leadership) try(ctx context.Context, seen *sighting) (held bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, leaseCall)
	defer cancel()
	lease, err := l.read(ctx)
	if apierrors.IsNotFound(err) {
		fresh := &coordination.Lease{ObjectMeta: meta.ObjectMeta{Name: l.name, Namespace: l.client.namespace}}
		l.fill(fresh)
		err = l.client.leases.Post().Namespace(l.client.namespace).Resource("leases").Body(fresh).Do(ctx).Error()
		return err == nil, ignored(err)
	}
	if err != nil {
		return false, err
	}
	if seen.revision != lease.ResourceVersion {
		*seen = sighting{lease.ResourceVersion, time.Now()}
	}
	if of := holder(lease); of != "" && of != l.id && time.Since(seen.at) < leaseTime {
		return false, nil
	}
	l.fill(lease)
	err = l.update(ctx, lease)
	return err == nil, ignored(err)
}

// ignored are errors that say that another server was faster.
func ignored(err error) error {
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// fill makes l the holder.
func (l *Leadership) fill(lease *coordination.Lease) {
	now, seconds := meta.NowMicro(), int32(leaseTime/time.Second)
	if holder(lease) != l.id {
		changes := int32(1)
		if n := lease.Spec.LeaseTransitions; n != nil {
			changes += *n
		}
		lease.Spec.HolderIdentity, lease.Spec.AcquireTime, lease.Spec.LeaseTransitions = &l.id, &now, &changes
	}
	lease.Spec.RenewTime, lease.Spec.LeaseDurationSeconds = &now, &seconds
}

func holder(lease *coordination.Lease) string {
	if h := lease.Spec.HolderIdentity; h != nil {
		return *h
	}
	return ""
}

// keep renews the lease until it is lost or released.
func (l *Leadership) keep(ctx context.Context) {
	defer close(l.done)
	for renewed := time.Now(); ; {
		if backoff.Sleep(ctx, renewEvery) != nil {
			return
		}
		began := time.Now()
		err := l.renew(ctx)
		switch {
		case err == nil:
			renewed = began
			l.fresh.Store(int64(began.Sub(l.begun)))
			l.announceAgain(ctx)
			continue
		case ctx.Err() != nil:
			return
		}
		l.log.WarnContext(ctx, "renewing the lease failed", "error", err, "since", time.Since(renewed).Round(time.Millisecond))
		if errors.Is(err, errTaken) || time.Since(renewed) > renewLimit && l.isFenced() {
			close(l.lost)
			return
		}
	}
}

var errTaken = errors.New("another server holds the lease")

func (l *Leadership) renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, leaseCall)
	defer cancel()
	lease, err := l.read(ctx)
	if err != nil {
		return err
	}
	if holder(lease) != l.id {
		return errTaken
	}
	l.fill(lease)
	return l.update(ctx, lease)
}

func (l *Leadership) read(ctx context.Context) (*coordination.Lease, error) {
	lease := new(coordination.Lease)
	return lease, l.client.leases.Get().Namespace(l.client.namespace).Resource("leases").Name(l.name).Do(ctx).Into(lease)
}

func (l *Leadership) update(ctx context.Context, lease *coordination.Lease) error {
	return l.client.leases.Put().Namespace(l.client.namespace).Resource("leases").Name(l.name).Body(lease).Do(ctx).Error()
}
