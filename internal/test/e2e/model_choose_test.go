//go:build e2e

package e2e

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"syscall"
	"time"

	"github.com/svcctl/svcctl/pkg/api"
)

// task is an operation on versions that no other task of its step has.
type task struct {
	name     string
	on       []*modeled
	quiet    bool // requests to these versions would keep it from ending
	fails    bool // requests to the first of these versions may fail meanwhile
	disturbs bool // it ends processes
	run      func()
}

func (t task) ids() (ids []string) {
	for _, v := range t.on {
		ids = append(ids, v.id)
	}
	return ids
}

// choose returns one to three tasks, one in a calm run.
func (m *modelRun) choose(fault bool) (tasks []task) {
	odds := 20
	if m.calm && m.tally["restart"]+m.tally["upgrade"] == 0 {
		odds = 4
	}
	if !fault && m.rand.IntN(odds) == 0 {
		return []task{m.restartTask()}
	}
	var taken []*modeled
	number := 1 + m.rand.IntN(3)
	if m.calm {
		number = 1
	}
	for range number {
		next := m.chooseOne()
		for try := 0; m.calm && try < 30 && m.tally[cmp.Or(next.name, "fork")] > 0; try++ { // a short run has most operations
			next = m.chooseOne()
		}
		if len(next.on) == 0 || slices.ContainsFunc(next.on, func(v *modeled) bool { return slices.Contains(taken, v) }) {
			continue
		}
		if next.run == nil {
			next = m.fork(next.on[0])
		}
		tasks, taken = append(tasks, next), append(taken, next.on...)
	}
	if len(tasks) == 0 {
		tasks = []task{m.setEnv(m.versions[m.prod[0]])}
	}
	return tasks
}

// chooseOne returns a task, without versions if none suits it.
func (m *modelRun) chooseOne() task {
	prod := m.versions[m.prod[0]]
	ready, archived := m.live(api.VersionStatusReady), m.live(api.VersionStatusArchived)
	failed := m.live(api.VersionStatusFailed)
	alive := slices.Concat(ready, archived)
	few := len(alive) < 2
	switch p := m.rand.IntN(100); {
	case few || p < 15 && len(alive) < 6:
		return task{on: []*modeled{pick(m.rand, append(alive, prod))}} // a fork: its version is made when it is sure to run
	case p < 20 && len(failed) > 0:
		return m.destroy(pick(m.rand, failed))
	case p < 28 || len(alive) > 5:
		return m.destroy(pick(m.rand, alive))
	case p < 45:
		return m.setEnv(pick(m.rand, append(ready, prod)))
	case p < 57 && len(ready) > 0:
		return m.archive(pick(m.rand, ready))
	case p < 70 && len(archived) > 0:
		return m.wake(pick(m.rand, archived))
	case p < 85 && len(ready) > 0:
		return m.promotion(prod, pick(m.rand, ready))
	case p < 88:
		return m.refused(prod)
	default:
		return m.sleep(pick(m.rand, append(ready, prod)))
	}
}

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// fault returns a function that ends a process at a random moment, nil in most steps.
func (m *modelRun) fault() func() {
	p, after := m.rand.IntN(100), time.Duration(m.rand.IntN(400))*time.Millisecond
	nth := m.rand.IntN(1000)
	switch {
	case p < 12:
		m.tally["kill daemon"]++
		return func() { <-time.After(after); m.killDaemon() }
	case p < 20:
		m.tally["kill host"]++
		return func() { <-time.After(after); m.killOne(" runtime-host", nth) }
	case p < 28:
		m.tally["kill workerd"]++
		return func() { <-time.After(after); m.killOne(workerd+" serve", nth) }
	}
	return nil
}

// killDaemon ends the daemon. No process of its versions outlives it.
func (m *modelRun) killDaemon() {
	m.process.kill()
	m.noProcessesLeft()
	m.again()
}

func (m *modelRun) again() {
	if !m.process.start() {
		m.t.Errorf("the daemon does not start again:\n%s", m.log.String())
	}
}

func (m *modelRun) killOne(text string, nth int) {
	if pids := m.pids(text); len(pids) > 0 {
		_ = syscall.Kill(pids[nth%len(pids)], syscall.SIGKILL) // it may have exited
	}
}
