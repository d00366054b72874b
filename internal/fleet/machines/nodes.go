package machines

import (
	"cmp"
	"maps"
	"slices"

	"github.com/svcctl/svcctl/internal/svc"
)

// Nodes returns the machines that have hosts here, by name.
func (f *Fleet) Nodes() []svc.Node {
	f.mu.Lock()
	defer f.mu.Unlock()
	machines := map[string]*svc.Node{}
	for _, h := range f.hosts {
		n := machines[h.machine]
		if n == nil {
			n = &svc.Node{Name: h.name, ID: h.machine, Node: f.cfg.Policy.Node(h.machine)}
			machines[h.machine] = n
		}
		if h.ready && !h.taken {
			n.Spares++
		}
		h.mu.Lock()
		if h.version != (svc.Ref{}) {
			n.Versions = append(n.Versions, h.version)
		}
		n.RSSBytes += h.use.RSSBytes
		if h.answer.After(n.AnsweredAt) {
			n.AnsweredAt = h.answer
		}
		h.mu.Unlock()
	}
	list := make([]svc.Node, 0, len(machines))
	for _, n := range slices.Collect(maps.Values(machines)) {
		slices.SortFunc(n.Versions, svc.Ref.Compare)
		list = append(list, *n)
	}
	slices.SortFunc(list, func(a, b svc.Node) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
	return list
}

// Waiting returns how many versions wait for a host.
func (f *Fleet) Waiting() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.wanting)
}
