package deploy

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/svc"
)

// codeUnreadable: the artifact store did not answer.
const codeUnreadable = "artifact_unreadable"

// codeNoData is the runtime's: the object store did not give the version's data.
const codeNoData = "data_unavailable"

const (
	firstPoll = 20 * time.Millisecond
	lastPoll  = time.Second
	// objectSlack is what the tar around the files may add to their limit.
	objectSlack = 16 << 20
)

// download is an object on local disk.
type download struct {
	file   string
	digest string
	size   int64
}

// patience runs what waits for a bundle: in place, aside, or not at all. Nil
// waits in place.
type patience func(wait func() error) error

// impatient waits for nothing: at boot one missing bundle must not keep others.
func impatient(func() error) error { return errImpatient }

var errImpatient = errors.New("the bundle is not waited for")

// download brings the bundle's object to disk. It waits for one that is not
// there yet [D41], and for a store that does not answer, as p lets it.
func (b *bundles) download(ctx context.Context, ref svc.Ref, p patience) (got download, err error) {
	arrived, done := b.watch(ref)
	defer done()
	got, err = b.try(ctx, ref)
	var later *laterError
	if err == nil || ctx.Err() != nil || !errors.As(err, &later) {
		return got, err
	}
	wait := func() error {
		got, err = b.await(ctx, ref, arrived)
		return err
	}
	if p == nil {
		p = func(wait func() error) error { return wait() }
	}
	if err = p(wait); errors.Is(err, errImpatient) {
		err = later.expired(ref, 0)
	}
	return got, err
}

// await looks for the bundle again and again until the wait is over.
func (b *bundles) await(ctx context.Context, ref svc.Ref, arrived <-chan struct{}) (download, error) {
	began := time.Now()
	deadline := time.NewTimer(b.wait)
	defer deadline.Stop()
	for delay := firstPoll; ; delay = min(delay*3/2, lastPoll) {
		got, err := b.try(ctx, ref)
		var later *laterError
		if err == nil || ctx.Err() != nil || !errors.As(err, &later) {
			return got, err
		}
		if delay == firstPoll {
			b.log.InfoContext(ctx, "waiting for the bundle", "version", ref.String(), "wait", b.wait, "reason", later.err.Error())
		}
		poll := time.NewTimer(delay)
		select {
		case <-poll.C:
		case <-arrived:
		case <-deadline.C:
			poll.Stop()
			return download{}, later.expired(ref, time.Since(began))
		case <-ctx.Done():
		}
		poll.Stop()
		if ctx.Err() != nil {
			return download{}, context.Cause(ctx)
		}
	}
}

// try looks at every source once.
func (b *bundles) try(ctx context.Context, ref svc.Ref) (download, error) {
	var broken error
	for _, src := range b.sources {
		body, err := src.open(ctx, ref)
		if errors.Is(err, errAbsent) {
			continue
		}
		if err != nil {
			broken = errors.Join(broken, err)
			continue
		}
		defer body.Close()
		return b.save(ctx, ref, body)
	}
	if broken != nil {
		return download{}, &laterError{broken}
	}
	return download{}, &laterError{errAbsent}
}

// save streams body to disk while hashing it.
func (b *bundles) save(ctx context.Context, ref svc.Ref, body io.Reader) (download, error) {
	got := download{file: b.object(ref)}
	f, err := os.OpenFile(got.file, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, fileMode)
	if err != nil {
		return download{}, fmt.Errorf("saving the bundle: %w", err)
	}
	hash, limit := sha256.New(), b.maxObject()
	from := &sourceReader{r: body}
	got.size, err = io.Copy(io.MultiWriter(f, hash), io.LimitReader(from, limit+1))
	err = errors.Join(err, f.Close())
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case err == nil && got.size > limit:
		err = svc.Errorf(svc.TooLarge, "bundle_too_large", "the bundle has more than %d bytes", limit)
	case from.err != nil:
		err = &laterError{err}
	case err != nil:
		err = fmt.Errorf("saving the bundle: %w", err)
	}
	if err != nil {
		return download{}, errors.Join(err, os.Remove(got.file))
	}
	got.digest = "sha256:" + hex.EncodeToString(hash.Sum(nil))
	return got, nil
}

// maxObject is how large an object may be: as large as what it holds, were it
// not compressed at all [D42].
func (b *bundles) maxObject() int64 {
	if b.limits.Total > 0 {
		return b.limits.Total + objectSlack
	}
	return bundle.DefaultTotalBytes + objectSlack
}

// laterError is a reason to look again.
type laterError struct{ err error }

func (e *laterError) Error() string { return e.err.Error() }
func (e *laterError) Unwrap() error { return e.err }

// expired is what to tell when there is no time left to look again.
func (e *laterError) expired(ref svc.Ref, waited time.Duration) error {
	waited = waited.Round(time.Millisecond)
	if !errors.Is(e.err, errAbsent) {
		return svc.Errorf(svc.Unavailable, codeUnreadable, "the artifact store did not give the bundle for %s", waited).
			WithHint("see the daemon's log and GET /v1/health/deep").Because(e.err)
	}
	return svc.Errorf(svc.NotFound, "artifact_missing", "no bundle arrived within %s: neither %s nor %s exists in the artifacts bucket",
		waited, objectKey(ref, names()[0]), objectKey(ref, names()[1])).
		WithHint("upload it before the create call or right after it, or raise SVC_ARTIFACT_WAIT")
}

// watch registers the one waiter for ref.
func (b *bundles) watch(ref svc.Ref) (arrived <-chan struct{}, done func()) {
	ch := make(chan struct{}, 1)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting[ref] = ch
	return ch, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.waiting, ref)
	}
}

func (b *bundles) arrived(ref svc.Ref) {
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case b.waiting[ref] <- struct{}{}:
	default: // nobody waits, or is awake already
	}
}
