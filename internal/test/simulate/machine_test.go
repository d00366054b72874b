//go:build simulate

package simulate

import (
	"context"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/svc"
)

// newMachine makes a machine whose lease is renewed until its process ends.
func (w *world) newMachine(name string) {
	m := &machine{name: name}
	w.machines = append(w.machines, m)
	m.lease = w.newProcess(nil, m, "lease")
	p := m.lease
	w.task(func() {
		ctx, cancel := context.WithCancel(context.Background())
		go func() { <-p.killed; cancel() }()
		_, _ = p.branches.Hold(ctx, svc.Owner{Node: name, Session: p.session()})
	})
}

// other is the machine that m is not.
func (w *world) other(m *machine) *machine {
	if m == w.machines[0] {
		return w.machines[1]
	}
	return w.machines[0]
}

// partitioned reports whether a machine is cut off from the object store.
func (w *world) partitioned() bool { return w.machines[0].lease.cutOff || w.machines[1].lease.cutOff }

// heal lets all requests arrive.
func (w *world) heal() {
	for _, m := range w.machines {
		m.lease.cutOff = false
	}
	for _, v := range w.versions {
		for _, p := range v.processes {
			p.cutOff = false
		}
	}
}

func (p *process) session() string { return "s-" + p.name }

// newProcess makes a process that has done nothing yet. v is nil for the daemon and for leases.
func (w *world) newProcess(v *version, m *machine, name string) *process {
	w.started++
	p := &process{name: name, number: w.started, version: v, machine: m, killed: make(chan struct{}), synced: map[string]int{}}
	if m != nil {
		p.name += "@" + m.name
	}
	p.branches = w.branches(branch.Config{Data: bucket{w, p}})
	return p
}
