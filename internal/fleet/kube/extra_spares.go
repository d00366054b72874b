package kube

import (
	"context"
	"time"

	core "k8s.io/api/core/v1"

	"github.com/svcctl/svcctl/internal/svc"
)

// ExtraLabel is on pods that were taken out of the Deployment of spares before a version has claimed
// them, so that it starts others.
const ExtraLabel = "svcctl.dev/extra"

const (
	// extraSparesEvery is the pause between two looks at the pods while spares are missing, and extraSparesWait
	// the longest wait for the pods that the Deployment makes in place of others.
	extraSparesEvery = 100 * time.Millisecond
	extraSparesWait  = 2 * time.Second
	// youngFor is the age up to which a pod of the Deployment counts that is no spare yet: an older one may
	// never be.
	youngFor = 10 * time.Second
	// surplus is how many more extra pods there may be than twice those that are wanted: pods that never
	// start, and those that the scheduler gives to a lost node, must not be made without end.
	surplus = 2
)

// Want implements machines.Policy: while more spares are needed than wait, the Deployment starts more of them
// than it has replicas.
func (p *Pods) Want(more int) {
	p.want.Store(int64(more))
	select {
	case p.wanted <- struct{}{}:
	default:
	}
}

// IsFree implements machines.Policy: a pod that was claimed is for its version alone.
func (p *Pods) IsFree(machine string) bool {
	pod := p.find(machine)
	return pod != nil && isFree(pod)
}

func isFree(pod *core.Pod) bool {
	_, claimed := owner(pod)
	return !claimed && pod.DeletionTimestamp == nil
}

// extraSpares starts extra pods while they are wanted. A server may not make pods nor scale the Deployment, which
// would be rights over all of the namespace: it takes pods out of the Deployment, which makes others.
func (p *Pods) extraSpares(ctx context.Context) {
	tick := time.NewTicker(extraSparesEvery)
	defer tick.Stop()
	expected, until := 0, time.Time{}
	for {
		if p.want.Load() == 0 {
			select {
			case <-ctx.Done():
				return
			case <-p.wanted:
			}
		}
		if now, n := time.Now(), len(p.all()); n >= expected || now.After(until) {
			expected, until = n+p.extend(ctx, now), now.Add(extraSparesWait)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// extend takes as many pods out of the Deployment as spares are missing that do not start yet, and returns how many
// these are.
func (p *Pods) extend(ctx context.Context, now time.Time) (taken int) {
	want := int(p.want.Load())
	l := p.look(now)
	missing := min(want-l.coming, 2*want+surplus-l.extra, len(l.inside))
	for taken < missing {
		pod := l.inside[taken]
		if _, err := p.cfg.Client.patch(ctx, pod.Name, extraOf(pod)); err != nil {
			p.cfg.Logger.DebugContext(ctx, "a spare pod was not taken out of its Deployment", "pod", pod.Name, "error", err) // its revision was old
			break
		}
		taken++
		p.cfg.Logger.InfoContext(ctx, "versions need more spare pods: one was taken out of its Deployment, which makes another", "pod", pod.Name, "node", pod.Spec.NodeName)
	}
	return taken
}

// outlook is what is known of the pods that no version has.
type outlook struct {
	coming int // that start, and will be spares soon
	extra  int // that are in no Deployment
	// inside are those that the Deployment replaces if they are taken out of it: the ones of lost nodes
	// first, where Kubernetes starts pods for 44 s after the loss, and a Deployment of such pods starts no others.
	inside []*core.Pod
}

func (p *Pods) look(now time.Time) (l outlook) {
	all := p.all()
	here, lost := p.here(all, now)
	var others []*core.Pod
	for _, pod := range all {
		if !isFree(pod) {
			continue
		}
		machine, joined := here[string(pod.UID)]
		away := lost[pod.Spec.NodeName]
		starts := now.Sub(pod.CreationTimestamp.Time) < youngFor || isExtra(pod)
		if !away && starts && machine.Spares == 0 && len(machine.Versions) == 0 { // also one that has joined, and warms up
			l.coming++
		}
		switch {
		case isExtra(pod):
			l.extra++
		case pod.Labels[SpareLabel] == "":
		case away:
			l.inside = append(l.inside, pod)
		case joined, starts:
			others = append(others, pod)
		}
	}
	l.inside = append(l.inside, others...)
	return l
}

// here returns the machines that answer, by the uid of their pod, and the nodes that had machines, of which
// none answers.
func (p *Pods) here(all []*core.Pod, now time.Time) (machines map[string]svc.Node, lost map[string]bool) {
	machines, lost = map[string]svc.Node{}, map[string]bool{}
	answers := map[string]bool{}
	for _, n := range p.cfg.Machines() {
		if now.Sub(n.AnsweredAt) < p.cfg.Silence/2 {
			machines[n.ID], answers[n.Node] = n, true
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, pod := range all {
		_, claimed := owner(pod)
		if node := pod.Spec.NodeName; node != "" && !answers[node] && (claimed || p.seen[string(pod.UID)]) {
			lost[node] = true
		}
	}
	return machines, lost
}

// extraOf takes a pod out of the Deployment, unless it was changed since it was seen.
func extraOf(pod *core.Pod) []operation {
	return append([]operation{
		{"test", "/metadata/resourceVersion", pod.ResourceVersion},
		{"add", "/metadata/labels/" + escape(ExtraLabel), "true"},
	}, replacementOf(pod)...)
}

// isExtra reports whether a pod waits that no Deployment has: it is deleted when no version wants it.
func isExtra(pod *core.Pod) bool {
	return isFree(pod) && pod.Labels[ExtraLabel] != "" && pod.Labels[SpareLabel] == ""
}
