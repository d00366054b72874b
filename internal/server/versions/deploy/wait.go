package deploy

import (
	"context"
	"errors"
	"time"

	"github.com/svcctl/svcctl/internal/lib/backoff"
	"github.com/svcctl/svcctl/internal/server/versions/deployqueue"
	"github.com/svcctl/svcctl/internal/svc"
)

// The shortest and the longest interval between two checks for a bundle.
const (
	firstPoll = 20 * time.Millisecond
	lastPoll  = time.Second
	// pollShare is added for each deploy that waits: all of them together check for bundles at
	// most 200 times per second. A bundle that is uploaded to this server is not checked for.
	pollShare = 5 * time.Millisecond
	// maxChecks is the number of checks for bundles that run concurrently.
	maxChecks = 8
)

// laterError says why a bundle cannot be read yet.
type laterError struct{ err error }

func (e *laterError) Error() string { return e.err.Error() }
func (e *laterError) Unwrap() error { return e.err }

// expired returns the error of a wait for a bundle that reached its limit.
func (e *laterError) expired(keys [2]string, waited time.Duration) error {
	if !errors.Is(e.err, errAbsent) {
		return svc.Errorf(svc.Unavailable, svc.CodeArtifactUnreadable, "the artifact store did not return the bundle for %s", waited).
			WithHint("read the daemon's log and GET /v1/health/deep").Because(e.err)
	}
	return svc.Errorf(svc.NotFound, svc.CodeArtifactMissing, "no bundle arrived within %s: neither %s nor %s exists in the artifacts bucket",
		waited, keys[0], keys[1]).
		WithHint("upload it before the create call or right after it, or raise SVC_ARTIFACT_WAIT")
}

// notYet returns the error of a step that finds no bundle [D41]. A job snoozes
// until the bundle arrives, at most ArtifactWait from the start of the step. Other
// starts do not wait, so that one missing bundle does not delay other versions.
func (r *run) notYet(ctx context.Context, reason *laterError) error {
	if !r.queued {
		return reason.expired(r.deps.BundleKeys(r.v.Ref), 0)
	}
	began := r.stepBegan()
	until := began.Add(r.deps.ArtifactWait)
	if !time.Now().Before(until) {
		return reason.expired(r.deps.BundleKeys(r.v.Ref), r.deps.ArtifactWait)
	}
	r.log.InfoContext(ctx, "waiting for the bundle", "until", until, "reason", reason.err.Error())
	return &deployqueue.SnoozeError{Until: until, Wait: func(ctx context.Context) {
		if !errors.Is(reason, errAbsent) { // the store fails: wait, even if it lists the bundle
			_ = backoff.Sleep(ctx, pollDelay(time.Since(began), r.bundles.waiters())) // await sees the end of ctx
		}
		r.await(ctx, began)
	}}
}

// await returns when the version's bundle has arrived, when the version has left
// its step, or when ctx ends.
func (r *run) await(ctx context.Context, began time.Time) {
	arrived, done := r.bundles.watch(r.v.Ref)
	defer done()
	if !r.inStep(ctx) {
		return // Stop, which wakes the waiter, ran before watch
	}
	for ctx.Err() == nil && !r.bundles.check(ctx, r.v.Ref) {
		select {
		case <-time.After(pollDelay(time.Since(began), r.bundles.waiters())):
		case <-arrived:
			return
		case <-ctx.Done():
		}
	}
}

// check is present for one of many deploys that wait. It runs in a goroutine of its own:
// the stacks of the waiting goroutines, which the garbage collector scans, stay small.
func (b *bundles) check(ctx context.Context, ref svc.Ref) (found bool) {
	select {
	case b.checks <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	defer func() { <-b.checks }()
	done := make(chan struct{})
	go func() {
		defer close(done)
		found = b.present(ctx, ref)
	}()
	<-done
	return found
}

// pollDelay returns the interval until the next check for a bundle, by the time
// already waited and the number of deploys that wait.
func pollDelay(waited time.Duration, waiters int) time.Duration {
	return min(max(waited/4, firstPoll), lastPoll) + time.Duration(waiters)*pollShare
}

// waiters returns how many deploys wait for a bundle.
func (b *bundles) waiters() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.waiting)
}

// stepBegan returns when the version entered its step, or when the service was
// created, if that is later: time without a service does not count.
func (r *run) stepBegan() time.Time {
	began := r.made
	if n := len(r.v.Timeline); n > 0 && r.v.Timeline[n-1].StartedAt.After(began) {
		began = r.v.Timeline[n-1].StartedAt
	}
	return began
}

// inStep reports whether the version still has the status of this attempt.
func (r *run) inStep(ctx context.Context) bool {
	v, err := r.deps.Versions.Version(ctx, r.v.Ref)
	return err != nil || v.Status == r.v.Status
}

// watch registers the only waiter for ref. The caller calls done.
func (b *bundles) watch(ref svc.Ref) (arrived <-chan struct{}, done func()) {
	ch := make(chan struct{}, 1)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting[ref] = ch
	return ch, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.waiting[ref] == ch {
			delete(b.waiting, ref)
		}
	}
}

// arrived wakes the waiter for ref, if any.
func (b *bundles) arrived(ref svc.Ref) {
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case b.waiting[ref] <- struct{}{}:
	default: // the waiter is awake already
	}
}
