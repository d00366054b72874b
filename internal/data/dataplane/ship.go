package dataplane

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/data/cowvfs"
	"github.com/svcctl/svcctl/internal/data/replica"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	appendLimit = 15 * time.Second // for one attempt at a small transaction
	slowLine    = 256 << 10        // minimum bytes per second of a connection
	firstPause  = 50 * time.Millisecond
	longPause   = 2 * time.Second
)

// shipper appends the commits of one database to its log, in one goroutine that sleeps while
// nothing is pending. Commits are counted by marks: a mark is durable once shipped has reached
// it.
type shipper struct {
	db   *database
	wake chan struct{} // holds a token when a commit is pending
	rush chan struct{} // holds a token when the window must not be waited for
	soon chan struct{} // holds a token when a point must be shipped without waiting for the window
	done chan struct{} // closed when run has returned

	mu               sync.Mutex // guards the fields below
	written, shipped uint64
	since            time.Time     // lower bound of the time of unshipped commits; zero without one
	moved            chan struct{} // closed when shipped or failing changes
	failing          error         // of the last attempt, nil after a success
	point            staged        // what the newest point covers

	rushed  bool            // the last wait ended by rush; only run uses it
	current *cowvfs.Segment // next segment to ship; only run uses it
	fresh   int             // appended since the last compaction; only run uses it
}

func newShipper(db *database) *shipper {
	return &shipper{
		db: db, wake: make(chan struct{}, 1), rush: make(chan struct{}, 1), soon: make(chan struct{}, 1),
		done: make(chan struct{}), moved: make(chan struct{}),
	}
}

// committed is called after each commit, on the writer's goroutine.
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

// taken takes the token of c, if it holds one.
func taken(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// mark covers every commit so far.
func (p *shipper) mark() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.written
}

// await returns when the log has every commit up to mark.
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
		case <-p.db.volumes.revoked.done:
			return p.db.volumes.revoked.err
		case <-p.done:
			return cmp.Or(p.db.volumes.revoked.check(), errClosed)
		case <-ctx.Done():
			return p.notDurable(context.Cause(ctx))
		}
	}
}

func (p *shipper) notDurable(cause error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return svc.Errorf(svc.Unavailable, svc.CodeNotDurable, "the object store has not confirmed the write; it may or may not be stored").
		Because(errors.Join(cause, p.failing))
}

// flush ships everything committed so far, without waiting for the window.
func (p *shipper) flush(ctx context.Context) error {
	mark := p.mark()
	poke(p.rush)
	return p.await(ctx, mark)
}

// admit admits a write: immediately while the log follows; otherwise the write is held for
// holdLimit and then rejected. While no attempt has failed, each write is held: the process
// may have been suspended since the oldest commit, and ships it now.
func (p *shipper) admit(ctx context.Context) error {
	limit, came := p.db.volumes.cfg.behind(), time.Now()
	for {
		if err := p.db.volumes.revoked.check(); err != nil {
			return err
		}
		age, moved := p.age()
		if age < limit {
			return nil
		}
		poke(p.rush)
		left := limit + holdLimit - age
		if p.untried() {
			left = max(left, holdLimit-time.Since(came))
		}
		if left <= 0 {
			return p.behind(age)
		}
		t := time.NewTimer(left)
		select {
		case <-moved:
		case <-t.C:
		case <-p.db.volumes.revoked.done:
		case <-ctx.Done():
			t.Stop()
			return context.Cause(ctx)
		}
		t.Stop()
	}
}

// age is the age of the oldest unshipped commit.
func (p *shipper) age() (time.Duration, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.since.IsZero() {
		return 0, p.moved
	}
	return time.Since(p.since), p.moved
}

// untried reports whether no attempt has failed since the last success.
func (p *shipper) untried() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failing == nil
}

// lag is age, and the error of the last attempt.
func (p *shipper) lag() (age time.Duration, failing error) {
	age, _ = p.age()
	p.mu.Lock()
	defer p.mu.Unlock()
	return age, p.failing
}

func (p *shipper) behind(age time.Duration) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return svc.Errorf(svc.Unavailable, svc.CodeDataBehind, "the object store has accepted no write for %s; writes are rejected until it does",
		age.Round(time.Second)).Because(p.failing).After(time.Second)
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
		if p.awaitWindow(ctx) && !p.shipAll(ctx) {
			return
		}
	}
}

// awaitWindow waits until it is time to ship, and reports whether a commit is pending.
func (p *shipper) awaitWindow(ctx context.Context) bool {
	p.mu.Lock()
	since := p.since
	p.mu.Unlock()
	if since.IsZero() {
		return false
	}
	if p.db.volumes.cfg.Sync {
		return true
	}
	t := time.NewTimer(time.Until(since.Add(p.db.volumes.cfg.Window)))
	defer t.Stop()
	p.rushed = false
	for {
		select {
		case <-t.C:
		case <-p.soon:
			if _, waits := p.waiting(); !waits {
				continue // that point is shipped
			}
		case <-p.rush:
			p.rushed = true
		case <-ctx.Done():
		}
		p.rushed = taken(p.rush) || p.rushed
		return true
	}
}

// shipAll ships everything committed when it begins, and retries until it succeeds. It returns
// false when ctx has ended or ownership was revoked.
func (p *shipper) shipAll(ctx context.Context) bool {
	for pause := firstPause; ; pause = min(2*pause, longPause) {
		goal, err := p.drain(ctx, true)
		p.advance(goal, err)
		switch {
		case err == nil:
			return true
		case ctx.Err() != nil:
			return false
		case final(err):
			p.db.volumes.revoke(err)
			return false
		}
		p.db.volumes.cfg.Logger.WarnContext(ctx, "append to the log failed; retrying", "database", p.db.name, "error", err, "retry_in", pause)
		t := time.NewTimer(pause)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return false
		}
	}
}

// advance records the result of an attempt and notifies waiting goroutines.
func (p *shipper) advance(goal staged, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failing = err
	if err == nil {
		p.shipped, p.since = goal.mark, time.Time{}
		if p.written > goal.mark {
			p.since = goal.at
			poke(p.wake)
		}
	}
	close(p.moved)
	p.moved = make(chan struct{})
}

// final reports whether a retry cannot succeed.
func final(err error) bool {
	var damaged *replica.CorruptError
	return errors.Is(err, replica.ErrFenced) || errors.Is(err, replica.ErrOrder) || errors.As(err, &damaged)
}

// drain appends everything committed when it begins. Later commits wait for their own window:
// otherwise a busy database would be shipped without a pause. points allows it to make a point.
func (p *shipper) drain(ctx context.Context, points bool) (goal staged, err error) {
	goal, err = p.stage(ctx, points)
	if err != nil {
		return goal, err
	}
	for reached := replica.TXID(0); reached < goal.txid; {
		if p.current == nil {
			seg, ok, err := p.db.file.Next()
			if err != nil || !ok {
				return goal, err
			}
			p.current = &seg
		}
		if err := p.ship(ctx, *p.current); err != nil {
			return goal, err
		}
		reached, p.current = p.current.TXID, nil
		if p.fresh++; p.fresh >= p.db.volumes.cfg.CompactAfter {
			p.fresh = 0
			p.db.compactLater()
		}
	}
	return goal, nil
}

// ship appends one segment, unless an earlier attempt has, and deletes it locally.
func (p *shipper) ship(ctx context.Context, seg cowvfs.Segment) error {
	log := p.db.log
	if log.Position() < seg.TXID {
		f, err := os.Open(seg.Path)
		if err != nil {
			return fmt.Errorf("read transaction to ship: %w", err)
		}
		defer f.Close()
		try, cancel := context.WithTimeout(ctx, appendLimit+time.Duration(seg.Bytes/slowLine)*time.Second)
		defer cancel()
		if err := log.AppendFrom(try, seg.TXID, f, seg.Bytes); err != nil {
			return err
		}
		if p.db.unclaimed.Swap(false) {
			p.db.claimed()
		}
	}
	return p.db.file.Shipped(seg.TXID)
}
