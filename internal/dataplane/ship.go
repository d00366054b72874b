package dataplane

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/cowvfs"
	"github.com/svcctl/svcctl/internal/replica"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	appendLimit = 15 * time.Second // for one try of a small transaction
	slowLine    = 256 << 10        // bytes a second that a line must carry
	firstPause  = 50 * time.Millisecond
	longPause   = 2 * time.Second
)

// shipper appends what is committed in one store to its log, in one goroutine
// that sleeps while there is nothing to do. Commits are counted by marks: a mark
// is durable once shipped has reached it.
type shipper struct {
	store *store
	wake  chan struct{} // holds a token when there is something to ship
	rush  chan struct{} // holds a token when it is not to wait for the window
	done  chan struct{} // closed when run has returned

	mu               sync.Mutex // guards what follows
	written, shipped uint64
	since            time.Time     // no commit that is not shipped is older; zero when there is none
	moved            chan struct{} // closed when shipped or failing changes
	failing          error         // of the last try, nil after a success

	hand  *cowvfs.Segment // taken and not shipped; run's own
	fresh int             // appended since the last compaction; run's own
}

func newShipper(s *store) *shipper {
	return &shipper{
		store: s, wake: make(chan struct{}, 1), rush: make(chan struct{}, 1),
		done: make(chan struct{}), moved: make(chan struct{}),
	}
}

// committed is told of each commit, on the writer's goroutine.
func (p *shipper) committed() {
	p.mu.Lock()
	p.written++
	if p.since.IsZero() {
		p.since = time.Now()
	}
	p.mu.Unlock()
	poke(p.wake)
}

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// mark covers every commit so far.
func (p *shipper) mark() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.written
}

// await returns when the log has all up to mark.
func (p *shipper) await(ctx context.Context, mark uint64) error {
	for {
		p.mu.Lock()
		reached, moved := p.shipped >= mark, p.moved
		p.mu.Unlock()
		if reached {
			return nil
		}
		select {
		case <-moved:
		case <-p.store.volumes.fate.over:
			return p.store.volumes.fate.err
		case <-p.done:
			return cmp.Or(p.store.volumes.fate.check(), errClosed)
		case <-ctx.Done():
			return p.notDurable(context.Cause(ctx))
		}
	}
}

func (p *shipper) notDurable(cause error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return svc.Errorf(svc.Unavailable, "not_durable", "the object store has not confirmed the write: it may be there or not").
		Because(errors.Join(cause, p.failing))
}

// flush ships what is committed now, without waiting for the window.
func (p *shipper) flush(ctx context.Context) error {
	mark := p.mark()
	poke(p.rush)
	return p.await(ctx, mark)
}

// admit lets a write begin: at once while the log follows; else it is held for a
// while, and then refused.
func (p *shipper) admit(ctx context.Context) error {
	limit := p.store.volumes.cfg.behind()
	for {
		if err := p.store.volumes.fate.check(); err != nil {
			return err
		}
		age, moved := p.age()
		if age < limit {
			return nil
		}
		poke(p.rush)
		left := limit + holdLimit - age
		if left <= 0 {
			return p.behind(age)
		}
		t := time.NewTimer(left)
		select {
		case <-moved:
		case <-t.C:
		case <-p.store.volumes.fate.over:
		case <-ctx.Done():
			t.Stop()
			return context.Cause(ctx)
		}
		t.Stop()
	}
}

// age is how long the oldest commit that is not shipped has waited.
func (p *shipper) age() (time.Duration, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.since.IsZero() {
		return 0, p.moved
	}
	return time.Since(p.since), p.moved
}

// lag is age, and why the last try failed.
func (p *shipper) lag() (age time.Duration, failing error) {
	age, _ = p.age()
	p.mu.Lock()
	defer p.mu.Unlock()
	return age, p.failing
}

func (p *shipper) behind(age time.Duration) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := svc.Errorf(svc.Unavailable, "data_behind", "the object store has taken no write for %s: no more are accepted until it does",
		age.Round(time.Second)).Because(p.failing)
	err.RetryAfter = time.Second
	return err
}

// run ships until ctx ends.
func (p *shipper) run(ctx context.Context) {
	defer close(p.done)
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.wake:
		}
		if p.linger(ctx) && !p.shipAll(ctx) {
			return
		}
	}
}

// linger waits until it is time to ship, and reports whether there is anything.
func (p *shipper) linger(ctx context.Context) bool {
	p.mu.Lock()
	since := p.since
	p.mu.Unlock()
	if since.IsZero() {
		return false
	}
	if p.store.volumes.cfg.Sync {
		return true
	}
	t := time.NewTimer(time.Until(since.Add(p.store.volumes.cfg.Window)))
	defer t.Stop()
	select {
	case <-t.C:
	case <-p.rush:
	case <-ctx.Done():
	}
	return true
}

// shipAll ships all that is committed when it begins, however often it has to
// try. It returns false when that is over for good.
func (p *shipper) shipAll(ctx context.Context) bool {
	for pause := firstPause; ; pause = min(2*pause, longPause) {
		goal, began := p.mark(), time.Now()
		err := p.drain(ctx)
		p.settle(goal, began, err)
		switch {
		case err == nil:
			return true
		case ctx.Err() != nil:
			return false
		case final(err):
			p.store.volumes.lose(err)
			return false
		}
		p.store.volumes.cfg.Logger.WarnContext(ctx, "the object store does not take the writes", "store", p.store.name, "error", err)
		t := time.NewTimer(pause)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return false
		}
	}
}

// settle notes how far the log has come and tells who waits.
func (p *shipper) settle(goal uint64, began time.Time, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failing = err
	if err == nil {
		p.shipped, p.since = goal, time.Time{}
		if p.written > goal {
			p.since = began
			poke(p.wake)
		}
	}
	close(p.moved)
	p.moved = make(chan struct{})
}

// final tells what trying again does not mend.
func final(err error) bool {
	var damaged *replica.CorruptError
	return errors.Is(err, replica.ErrFenced) || errors.Is(err, replica.ErrOrder) || errors.As(err, &damaged)
}

// drain appends what is committed when it begins. What writers go on to commit
// waits for its own window: else a store that is never quiet would be shipped
// without a pause.
func (p *shipper) drain(ctx context.Context) error {
	goal, err := p.store.file.Stage()
	if err != nil {
		return err
	}
	for reached := replica.TXID(0); reached < goal; {
		if p.hand == nil {
			seg, ok, err := p.store.file.Take()
			if err != nil || !ok {
				return err
			}
			p.hand = &seg
		}
		if err := p.ship(ctx, *p.hand); err != nil {
			return err
		}
		reached, p.hand = p.hand.TXID, nil
		if p.fresh++; p.fresh >= compactAfter {
			p.fresh = 0
			p.store.compactLater()
		}
	}
	return nil
}

// ship appends one segment, unless an earlier try has, and forgets it here.
func (p *shipper) ship(ctx context.Context, seg cowvfs.Segment) error {
	log := p.store.log
	if log.Position() < seg.TXID {
		f, err := os.Open(seg.Path)
		if err != nil {
			return fmt.Errorf("reading a transaction to ship: %w", err)
		}
		defer f.Close()
		try, cancel := context.WithTimeout(ctx, appendLimit+time.Duration(seg.Bytes/slowLine)*time.Second)
		defer cancel()
		if err := log.AppendFrom(try, seg.TXID, f, seg.Bytes); err != nil {
			return err
		}
	}
	return p.store.file.Shipped(seg.TXID)
}
