//go:build e2e

package e2e

import (
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/svcctl/svcctl/internal/data/s3/s3fault"
	"github.com/svcctl/svcctl/internal/data/s3/s3test"
)

var quiet = slog.New(slog.DiscardHandler)

// injector kills processes and disturbs the way to the store at random.
type injector struct {
	d     *daemon
	store *s3test.Store
	rand  *rand.Rand
	sum   *crashTally

	mu    sync.Mutex  // held during a disturbance
	kills []time.Time // of runtimes of this daemon
}

// start disturbs until stop is called, which ends every disturbance.
func (m *injector) start() (stop func()) {
	end := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		for {
			select {
			case <-end:
				m.store.Way.Set(s3fault.Faults{})
				return
			case <-time.After(time.Duration(200+m.rand.IntN(1500)) * time.Millisecond):
				m.act()
			}
		}
	})
	return sync.OnceFunc(func() { close(end); done.Wait() })
}

func (m *injector) act() {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch p := m.rand.IntN(20); {
	case p < 4:
		m.kill(workerd+" serve", &m.sum.Workers)
	case p < 8:
		m.kill(" runtime-host", &m.sum.Hosts)
	case p < 10:
		m.restartLocked(func() {})
		m.sum.Daemons++
	case p < 13:
		m.sum.Stores++
		_ = m.store.Kill() // it may have exited
	case p < 15:
		m.store.Way.Down(true)
		time.Sleep(time.Duration(m.rand.IntN(1500)) * time.Millisecond)
		m.store.Way.Down(false)
	default:
		m.weather()
	}
}

// weather chooses the faults between the daemon and the store.
func (m *injector) weather() {
	f := s3fault.Faults{Seed: m.rand.Uint64(), Latency: time.Duration(m.rand.IntN(10)) * time.Millisecond}
	switch m.rand.IntN(3) {
	case 0:
		f.Rate = .02
	case 1: // a hanging request needs a wait
		f.Rate = .15
		f.Kinds = slices.DeleteFunc(s3fault.All(), func(k s3fault.Kind) bool { return k == s3fault.Hang || k == s3fault.HangAfter })
	}
	m.store.Way.Set(f)
}

// kill kills a process of a random version.
func (m *injector) kill(text string, count *int) {
	m.kills = slices.DeleteFunc(m.kills, func(at time.Time) bool { return time.Since(at) > time.Minute })
	pids := m.d.pids(text)
	if len(pids) == 0 || len(m.kills) >= 4 {
		return
	}
	if syscall.Kill(pids[m.rand.IntN(len(pids))], syscall.SIGKILL) == nil {
		*count++
		m.kills = append(m.kills, time.Now())
	}
}

// restart kills the daemon, calls the function while none of its processes run, and
// starts it.
func (m *injector) restart(between func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.restartLocked(between)
}

func (m *injector) restartLocked(between func()) {
	m.kills = nil
	m.d.kill()
	m.d.noProcessesLeft()
	between()
	m.store.Way.Set(s3fault.Faults{}) // its start probes the store
	if !m.d.start() {
		m.d.t.Errorf("the daemon does not start again:\n%s", m.d.log.String())
	}
}
