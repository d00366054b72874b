package machines

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/lib/backoff"
	"github.com/svcctl/svcctl/internal/svc"
)

// permitRetry is the wait after a permit that the machine has not confirmed.
const permitRetry = 100 * time.Millisecond

// firstPause is the time for the grants of all roles until the first permit: one with some of them would
// take the others from a machine that has them by an earlier daemon.
const firstPause = 10 * time.Millisecond

// maxValid is the longest validity of a permit: a daemon that starts waits for it.
const maxValid = 8 * time.Second

// slower is the part of its time by which the clock of a machine may run slower than the daemon's.
const slower = 50

// ValidFor is how long a permit is valid without a word from the daemon, unless Config.Valid says
// otherwise: less than the silence after which a machine is lost.
func ValidFor(silence time.Duration) time.Duration { return min(silence-silence/10, maxValid) }

// Permits is the daemon's end of a machine that admits the requests to a version itself: for which
// host names it may do so, and what it has admitted. It is safe for concurrent use; no method blocks.
type Permits struct {
	host *host
	wake chan struct{}

	mu      sync.Mutex // guards the fields below
	began   bool
	ended   bool // the host has ended
	last    bool // no permit is renewed any more
	next    uint64
	number  uint64 // of the last change
	granted map[uint64]svc.Role
	revoked map[uint64]*revocation
	heard   uint64    // the last answer
	heardAt time.Time // when it arrived
	until   time.Time // the machine admits nothing from then on, unless a later answer is confirmed
	used    Used
	total   map[svc.Role]uint64 // requests that the machine has admitted so far
	calling context.CancelFunc  // ends the call in progress; nil for none
	due     []func()            // to be called without the lock
}

// revocation is a grant that was revoked.
type revocation struct {
	number         uint64 // of the first permit without the grant
	revoked, ended func()
	closed         bool // revoked was called
}

// Used is what a machine has admitted, as of its last answer.
type Used struct {
	Requests   map[svc.Role]int // in progress
	Websockets int
	Last       map[svc.Role]time.Time // when the last request began
}

func newPermits(h *host) *Permits {
	return &Permits{
		host: h, wake: make(chan struct{}, 1), next: uint64(time.Now().UnixNano()),
		granted: map[uint64]svc.Role{}, revoked: map[uint64]*revocation{},
	}
}

// Permits returns the permits of the machine that runs the version whose start has this key; nil if
// gateways reach it only through this daemon.
func (f *Fleet) Permits(ref svc.Ref, key string) *Permits {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, h := range f.hosts {
		if h.direct != "" && h.serves(ref, key) {
			return h.permits
		}
	}
	return nil
}

// Grant lets the machine admit requests for the host name of a role from now on. It returns what
// Revoke takes. The numbers of grants differ also between daemons.
func (p *Permits) Grant(role svc.Role) uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next++
	p.granted[p.next] = role
	p.changed()
	return p.next
}

// Revoke ends a grant. revoked is called when the machine admits no more requests by it: when it
// says so, or when its permit has ended. ended is called after that when the requests that it has
// admitted have ended, or the host has. Both are called once, by another goroutine.
func (p *Permits) Revoke(grant uint64, revoked, ended func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.granted, grant)
	if p.ended {
		go func() { revoked(); ended() }()
		return
	}
	p.changed()
	p.revoked[grant] = &revocation{number: p.number, revoked: revoked, ended: ended}
}

// Used returns what the machine has admitted.
func (p *Permits) Used() Used {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.used
}

// changed sends the machine another permit soon. p.mu must be held.
func (p *Permits) changed() {
	p.number++
	if p.calling != nil {
		p.calling()
	}
	select {
	case p.wake <- struct{}{}:
	default:
	}
	if !p.began && !p.ended {
		if p.began = true; p.host.fleet.life.Err() != nil {
			p.ended = true
			return
		}
		p.host.fleet.tasks.Go(func() { p.keep(p.host.fleet.life) })
	}
}

// keep tells the machine each change, and renews its permit, until the host has ended.
func (p *Permits) keep(ctx context.Context) {
	defer p.end()
	_ = backoff.Sleep(ctx, firstPause) // the loop sees its error
	for confirm := true; ; {
		err := p.send(ctx)
		p.settle()
		if err == nil && confirm { // the validity begins with the answer
			confirm = false
			continue
		}
		confirm = true
		select {
		case <-p.wake:
		case <-time.After(p.pause(err)):
		case <-p.host.exited:
			return
		case <-ctx.Done():
			return
		}
	}
}

// pause is the time until the next permit.
func (p *Permits) pause(err error) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case len(p.revoked) == 0:
		return p.host.fleet.cfg.Silence / 5
	case err == nil:
		return 0 // the machine delays its answer
	}
	for _, r := range p.revoked {
		if !r.closed {
			return min(permitRetry, max(0, time.Until(p.until)))
		}
	}
	return permitRetry
}

// send sends the permit, and takes the answer.
func (p *Permits) send(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, p.host.fleet.cfg.Silence/2)
	defer cancel()
	permit := p.permit(cancel)
	answer, err := p.host.Client().Permit(ctx, permit)
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calling = nil
	if err != nil {
		return err
	}
	p.heard, p.heardAt = answer.Answer, now
	p.take(answer, now)
	p.host.answered(now)
	return nil
}

// permit returns the permit that holds now.
func (p *Permits) permit(cancel context.CancelFunc) control.Permit {
	cfg := &p.host.fleet.cfg
	generation, limit := cfg.Generation(), cfg.PermitsUntil() // not under the lock: routes change under theirs
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calling = cancel
	n := control.Permit{Number: p.number, Generation: generation, Limit: cfg.Limit}
	for id, role := range p.granted {
		n.Grants = append(n.Grants, control.Grant{ID: id, Role: role})
	}
	acknowledged := true
	for id, r := range p.revoked {
		n.Ending = append(n.Ending, id)
		acknowledged = acknowledged && r.closed
	}
	if len(n.Ending) > 0 && acknowledged {
		n.Wait = cfg.Silence / 5
	}
	if valid := min(cfg.Valid, limit.Sub(p.heardAt)); p.heard > 0 && valid > 0 && !p.last {
		n.Heard, n.For = p.heard, valid-valid/slower
		if until := p.heardAt.Add(valid); until.After(p.until) {
			p.until = until
		}
	}
	return n
}

// take notes what the machine has admitted. p.mu must be held.
func (p *Permits) take(a control.Admitted, now time.Time) {
	last := maps.Clone(p.used.Last)
	if last == nil {
		last = map[svc.Role]time.Time{}
	}
	for role, ago := range a.Used {
		if a.Total[role] != p.total[role] { // else the time is known; another answer would shift it
			last[role] = now.Add(-ago)
		}
	}
	p.used, p.total = Used{Requests: a.Roles, Websockets: a.Websockets, Last: last}, a.Total
	for id, r := range p.revoked {
		if a.Number < r.number {
			continue
		}
		p.close(r)
		if a.Requests[id] == 0 {
			delete(p.revoked, id)
			p.due = append(p.due, r.ended)
		}
	}
}

// close notes that the machine admits no more requests by a grant. p.mu must be held.
func (p *Permits) close(r *revocation) {
	if !r.closed {
		r.closed = true
		p.due = append(p.due, r.revoked)
	}
}

// settle calls what is due, also for a machine whose permit has ended.
func (p *Permits) settle() {
	p.mu.Lock()
	if !time.Now().Before(p.until) {
		for _, r := range p.revoked {
			p.close(r)
		}
	}
	due := p.due
	p.due = nil
	p.mu.Unlock()
	for _, call := range due {
		call()
	}
}

// end is called when the host has ended, or the fleet.
func (p *Permits) end() {
	p.mu.Lock()
	p.ended = true
	for id, r := range p.revoked {
		p.close(r)
		p.due = append(p.due, r.ended)
		delete(p.revoked, id)
	}
	p.used.Requests, p.used.Websockets = nil, 0
	p.mu.Unlock()
	p.settle()
}

// expire renews the permit no more, and returns when the machine admits nothing.
func (p *Permits) expire(ctx context.Context) {
	p.mu.Lock()
	p.last = true
	until := p.until
	p.mu.Unlock()
	_ = backoff.Sleep(ctx, time.Until(until)) // a fleet that stops need not wait
}
