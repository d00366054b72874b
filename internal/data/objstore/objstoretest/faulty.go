package objstoretest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/data/objstore"
)

// ErrInjected is the error of an injected fault.
var ErrInjected = errors.New("injected fault")

// Faults are the probabilities of each fault, from 0 to 1.
type Faults struct {
	Before   float64 // the request fails and has no effect
	After    float64 // a write takes effect but returns an error
	Conflict float64 // a conditional put is rejected, as with concurrent writers, without effect
	Torn     float64 // a body ends early
	Stale    float64 // a listing lacks the newest objects
	Hang     float64 // the request waits for its context to end
}

// Faulty is a bucket that fails at random and counts requests. Latency is added to
// each request. Set the fields before use, and Off to stop the faults.
type Faulty struct {
	objstore.Bucket
	Faults  Faults
	Latency time.Duration
	Off     atomic.Bool

	Puts, Gets, Lists, Stats, Injected atomic.Int64
	PutBytes, GotBytes                 atomic.Int64

	mu  sync.Mutex
	rng *rand.Rand
	old map[string][]objstore.Info // by prefix: the previous listing
}

// NewFaulty wraps b; the same seed gives the same faults.
func NewFaulty(b objstore.Bucket, faults Faults, seed uint64) *Faulty {
	return &Faulty{Bucket: b, Faults: faults, rng: rand.New(rand.NewPCG(seed, 1)), old: map[string][]objstore.Info{}} //nolint:gosec // a test
}

func (f *Faulty) roll(odds float64) bool {
	if odds == 0 || f.Off.Load() {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.rng.Float64() >= odds {
		return false
	}
	f.Injected.Add(1)
	return true
}

// begin delays a request and injects the faults that precede its effect.
func (f *Faulty) begin(ctx context.Context) error {
	if f.Latency > 0 {
		timer := time.NewTimer(f.Latency)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if f.roll(f.Faults.Hang) {
		<-ctx.Done()
		return ctx.Err()
	}
	if f.roll(f.Faults.Before) {
		return fmt.Errorf("%w: before", ErrInjected)
	}
	return ctx.Err()
}

// Put implements objstore.Bucket.
func (f *Faulty) Put(ctx context.Context, key string, body io.Reader, size int64, cond objstore.Condition) (objstore.Info, error) {
	f.Puts.Add(1)
	f.PutBytes.Add(max(size, 0))
	if err := f.begin(ctx); err != nil {
		return objstore.Info{}, err
	}
	if cond != (objstore.Condition{}) && f.roll(f.Faults.Conflict) {
		return objstore.Info{}, fmt.Errorf("%w: %w", ErrInjected, objstore.ErrPrecondition)
	}
	info, err := f.Bucket.Put(ctx, key, body, size, cond)
	if err == nil && f.roll(f.Faults.After) {
		return objstore.Info{}, fmt.Errorf("%w: after", ErrInjected)
	}
	return info, err
}

// Get implements objstore.Bucket.
func (f *Faulty) Get(ctx context.Context, key string, off, n int64) (io.ReadCloser, objstore.Info, error) {
	f.Gets.Add(1)
	if err := f.begin(ctx); err != nil {
		return nil, objstore.Info{}, err
	}
	r, info, err := f.Bucket.Get(ctx, key, off, n)
	if err != nil {
		return nil, info, err
	}
	if n < 0 {
		n = info.Size - off
	}
	f.GotBytes.Add(n)
	if n > 0 && f.roll(f.Faults.Torn) {
		return struct {
			io.Reader
			io.Closer
		}{io.LimitReader(r, n/2), r}, info, nil
	}
	return r, info, nil
}

// Stat implements objstore.Bucket.
func (f *Faulty) Stat(ctx context.Context, key string) (objstore.Info, error) {
	f.Stats.Add(1)
	if err := f.begin(ctx); err != nil {
		return objstore.Info{}, err
	}
	return f.Bucket.Stat(ctx, key)
}

// List implements objstore.Bucket.
func (f *Faulty) List(ctx context.Context, prefix, after string, limit int) ([]objstore.Info, error) {
	f.Lists.Add(1)
	if err := f.begin(ctx); err != nil {
		return nil, err
	}
	page, err := f.Bucket.List(ctx, prefix, after, limit)
	if err != nil {
		return nil, err
	}
	id := prefix + "\x00" + after
	stale := f.roll(f.Faults.Stale)
	f.mu.Lock()
	defer f.mu.Unlock()
	if old, seen := f.old[id]; stale && seen {
		return old, nil
	}
	f.old[id] = page
	return page, nil
}

// Delete implements objstore.Bucket.
func (f *Faulty) Delete(ctx context.Context, keys ...string) error {
	if err := f.begin(ctx); err != nil {
		return err
	}
	err := f.Bucket.Delete(ctx, keys...)
	if err == nil && f.roll(f.Faults.After) {
		return fmt.Errorf("%w: after", ErrInjected)
	}
	return err
}
