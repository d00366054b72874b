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
	leaseTime  = 4 * time.Second
	renewLimit = 2500 * time.Millisecond
	renewEvery = time.Second
	renewAgain = 200 * time.Millisecond // after a failure
	lookEvery  = 250 * time.Millisecond // of a server that stands by
	leaseCall  = time.Second            // the limit of one try
)

// PermitTime is how long after the last renewal of a Lease a permit is valid that its holder has given:
// until the next leader, which has waited for leaseTime, has started, has been dialed by machines, and
// has given them permits. A longer time would delay what must wait for the end of permits: a version
// of a machine that was lost together with the leader.
const PermitTime = 6500 * time.Millisecond

// PermitFor returns how long a permit is valid without a word from the leader, for machines that are lost after
// silence: longer than that, so that a change of leaders does not end it, and at most PermitTime.
func PermitFor(silence time.Duration) time.Duration { return min(silence+silence*3/10, PermitTime) }

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

	before Before

	unannounced atomic.Pointer[string] // the pod of an announcement that has failed; nil for none
}

// Before is what is known of the server that led before.
type Before struct {
	// Ended is when all permits have ended that the server may have given.
	Ended time.Time
	// Vanished says that it did not release the Lease: nothing was heard of it for the length of the Lease.
	Vanished bool
}

// Before returns what is known of the server that led before this one.
func (l *Leadership) Before() Before { return l.before }

// Lead waits until this process, known as id, holds the Lease name. It waits as long as another
// holder renews it: by the clock of this process alone, so clocks may differ.
func Lead(ctx context.Context, c *Client, name, id string, log *slog.Logger) (*Leadership, error) {
	l := &Leadership{client: c, log: log.With("lease", name, "id", id), name: name, id: id, begun: time.Now(), lost: make(chan struct{}), done: make(chan struct{})}
	for seen := (sighting{}); ; {
		began := time.Now()
		l.fresh.Store(int64(began.Sub(l.begun)))
		held, err := l.try(ctx, &seen)
		if held {
			break
		}
		if err != nil && ctx.Err() == nil {
			seen.failed(began)
			l.log.WarnContext(ctx, "taking the lease failed; retrying", "error", err)
		}
		if backoff.Sleep(ctx, lookEvery) != nil {
			return nil, context.Cause(ctx)
		}
	}
	l.log.InfoContext(ctx, "this server leads", "vanished", l.before.Vanished)
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	l.cancel = cancel
	go l.keep(own)
	return l, nil
}

// Lost is closed when the lease may be another's.
func (l *Leadership) Lost() <-chan struct{} { return l.lost }

// PermitsUntil returns how long permits may be valid that are given now: until PermitTime after the last
// renewal of the lease. It returns the zero time if the renewal was so long ago that another server
// may lead soon.
func (l *Leadership) PermitsUntil() time.Time {
	renewed := l.begun.Add(time.Duration(l.fresh.Load()))
	if time.Since(renewed) >= renewLimit {
		return time.Time{}
	}
	return renewed.Add(PermitTime)
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
	away     time.Time // since when the API server has not answered; zero if it does
}

// failed notes that the API server has not answered a request that began at a time.
func (s *sighting) failed(began time.Time) {
	if s.away.IsZero() {
		s.away = began
	}
}

// saw notes the revision of the lease. While the API server was away its holder could not renew it
// either: that time does not count.
func (s *sighting) saw(revision string, now time.Time) {
	switch {
	case s.revision != revision:
		s.revision, s.at = revision, now
	case !s.away.IsZero():
		s.at = s.at.Add(now.Sub(s.away))
	}
	s.away = time.Time{}
}

// try takes the lease if it is free or has expired.
func (l *Leadership) try(ctx context.Context, seen *sighting) (held bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, leaseCall)
	defer cancel()
	lease, err := l.read(ctx)
	if apierrors.IsNotFound(err) {
		fresh := &coordination.Lease{ObjectMeta: meta.ObjectMeta{Name: l.name, Namespace: l.client.namespace}}
		l.fill(fresh)
		l.before = Before{Ended: time.Now().Add(PermitTime)} // it may have been deleted
		err = l.client.leases.Post().Namespace(l.client.namespace).Resource("leases").Body(fresh).Do(ctx).Error()
		return err == nil, ignored(err)
	}
	if err != nil {
		return false, err
	}
	seen.saw(lease.ResourceVersion, time.Now())
	of, length := holder(lease), lengthOf(lease)
	if of != "" && of != l.id && time.Since(seen.at) < length {
		return false, nil
	}
	if of != l.id || l.before == (Before{}) { // else an earlier try has succeeded
		// The last renewal was before its state was seen. A holder of a release with a longer Lease
		// gives permits that are valid for longer.
		l.before = Before{Ended: seen.at.Add(PermitTime + length - leaseTime), Vanished: of != "" && of != l.id}
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

// lengthOf returns how long the holder may not have renewed a lease until another server may take it.
func lengthOf(lease *coordination.Lease) time.Duration {
	if s := lease.Spec.LeaseDurationSeconds; s != nil && holder(lease) != "" {
		return max(leaseTime, time.Duration(*s)*time.Second)
	}
	return leaseTime
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
	wait := renewEvery
	for renewed := time.Now(); ; {
		if backoff.Sleep(ctx, wait) != nil {
			return
		}
		began := time.Now()
		err := l.renew(ctx)
		switch {
		case err == nil:
			renewed, wait = began, renewEvery
			l.fresh.Store(int64(began.Sub(l.begun)))
			l.announceAgain(ctx)
			continue
		case ctx.Err() != nil:
			return
		}
		l.log.WarnContext(ctx, "renewing the lease failed", "error", err, "since", time.Since(renewed).Round(time.Millisecond))
		late := time.Since(renewed) > renewLimit
		if errors.Is(err, errTaken) || late && l.isFenced() {
			close(l.lost)
			return
		}
		if wait = renewAgain; late { // as long as the object store says that this server may serve
			wait = renewEvery
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
