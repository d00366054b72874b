package direct

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/svc"
)

// Permit replaces the permit, and returns what the gate has admitted. It waits as
// control.Permit says. The error is that of ctx: the line of the daemon has ended.
func (g *Gate) Permit(ctx context.Context, p control.Permit) (control.Admitted, error) {
	if err := g.set(ctx, p); err != nil {
		return control.Admitted{}, err
	}
	limit := time.NewTimer(p.Wait)
	defer limit.Stop()
	for {
		answer, change := g.answer(p)
		if change == nil {
			return answer, nil
		}
		select {
		case <-change:
		case <-limit.C:
			p.Wait = 0
		case <-ctx.Done():
			return answer, context.Cause(ctx)
		}
	}
}

// set makes p the permit, unless a later one holds.
func (g *Gate) set(ctx context.Context, p control.Permit) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if ctx.Err() != nil { // under the lock: the next line's permits come after it
		return context.Cause(ctx)
	}
	if p.Number < g.permit.Number {
		return nil
	}
	g.replace(p)
	g.permit = p
	g.permit.Grants, g.permit.Ending = nil, nil
	if at, ok := g.given[p.Heard]; ok && at.Add(p.For).After(g.until) {
		g.until = at.Add(p.For)
	}
	return nil
}

// replace makes the grants of p those that hold. g.mu must be held.
func (g *Gate) replace(p control.Permit) {
	old := g.granted
	g.granted = map[svc.Role]*grant{}
	for _, n := range p.Grants {
		of := g.grants[n.ID]
		if of == nil || of.gone {
			of = &grant{Grant: n}
			g.grants[n.ID] = of
		}
		g.granted[n.Role] = of
	}
	for role, of := range old {
		if g.granted[role] != of {
			g.revoke(of)
		}
	}
	if g.adopt {
		g.adoptRequests(p.Ending)
	}
	g.adopt = false
}

// revoke ends a grant; its requests continue. g.mu must be held.
func (g *Gate) revoke(of *grant) {
	of.gone = true
	if of.requests == 0 {
		delete(g.grants, of.ID)
	}
}

// adoptRequests counts the requests that an earlier daemon has let in as those of a grant of this
// one, which does not know the earlier grants. g.mu must be held.
func (g *Gate) adoptRequests(ending []uint64) {
	for id, of := range g.grants {
		if !of.gone || slices.Contains(ending, id) {
			continue
		}
		heir := g.granted[of.Role]
		for _, other := range g.granted {
			if heir == nil {
				heir = other
			}
		}
		if heir != nil {
			heir.requests += of.requests
			of.requests, of.heir = 0, heir
			delete(g.grants, id)
		}
	}
}

// answer returns what the gate has admitted; change is nil unless the answer to p waits for the end
// of requests.
func (g *Gate) answer(p control.Permit) (a control.Admitted, change <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	a = control.Admitted{Number: g.permit.Number, Requests: map[uint64]int{}, Roles: map[svc.Role]int{}, Websockets: g.websockets, Total: maps.Clone(g.total), Used: map[svc.Role]time.Duration{}}
	for id, of := range g.grants {
		a.Requests[id] = of.requests
		a.Roles[of.Role] += of.requests
	}
	if p.Wait > 0 && !slices.ContainsFunc(p.Ending, func(id uint64) bool { return a.Requests[id] == 0 }) {
		return a, g.change
	}
	now := time.Now()
	for role, at := range g.used {
		a.Used[role] = now.Sub(at)
	}
	g.answers++
	a.Answer = g.answers
	g.given[g.answers] = now
	delete(g.given, g.answers-maxGiven)
	return a, nil
}
