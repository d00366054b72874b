package kube

import (
	"context"
	"maps"
	"slices"
	"time"

	core "k8s.io/api/core/v1"

	"github.com/svcctl/svcctl/internal/svc"
)

// extraKey is before the uid of a pod that no version has claimed yet.
const extraKey = "extra "

// reapEvery is the interval of the search for pods without a version.
const reapEvery = 2 * time.Second

// reap deletes pods that were claimed and have no version any more: it was archived or sleeps, or
// runs in another pod because this one's node was silent. It also deletes pods that were started for
// versions which found others.
func (p *Pods) reap(ctx context.Context) {
	tick := time.NewTicker(reapEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for _, pod := range p.unused(time.Now()) {
			switch deleted, err := p.cfg.Client.remove(ctx, pod); {
			case err != nil:
				p.cfg.Logger.WarnContext(ctx, "a pod without a version cannot be deleted; retrying", "pod", pod.Name, "error", err)
			case deleted:
				p.cfg.Logger.InfoContext(ctx, "deleted a pod without a version", "pod", pod.Name)
			}
		}
	}
}

// unused returns the claimed pods that have had no version for Config.Idle, and the extra ones that no
// version has wanted for Config.Surplus.
func (p *Pods) unused(now time.Time) (list []*core.Pod) {
	runs := map[string]svc.Node{}
	for _, n := range p.cfg.Machines() {
		runs[n.ID] = n
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	idle := map[string]time.Time{}
	for _, pod := range p.all() {
		ref, claimed := owner(pod)
		uid := string(pod.UID)
		n, here := runs[uid]
		limit, key := p.cfg.Idle, uid
		if isExtra(pod) && p.want.Load() == 0 && len(n.Versions) == 0 {
			limit, key = p.cfg.Surplus, extraKey+uid // its time ends when it is claimed
		} else if !claimed || slices.Contains(n.Versions, ref) || !here && !p.seen[uid] && now.Sub(p.started) < p.cfg.Settle {
			continue
		}
		since, ok := p.idle[key]
		if !ok {
			since = now
		}
		if idle[key] = since; now.Sub(since) >= limit {
			list = append(list, pod)
		}
	}
	p.idle = idle
	maps.DeleteFunc(p.seen, func(uid string, _ bool) bool { _, here := runs[uid]; return !here && p.find(uid) == nil })
	return list
}
