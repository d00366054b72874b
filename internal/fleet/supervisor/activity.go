package supervisor

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/fleet/driver"
	"github.com/svcctl/svcctl/internal/svc"
)

// lookEvery is the time between two looks for runtimes that work: the longest time that a
// worker can take memory before its host measures it.
const lookEvery = 250 * time.Millisecond

// activity finds the runtimes that work, with one timer for all of them: a timer in each
// host, or a ping of each, costs more than all versions that do nothing may. Work of every
// kind uses processor time of workerd: requests, events, timers of the worker, and a loop
// without an end. A workerd that is stuck without using any is noticed by what asks it.
type activity struct {
	every time.Duration
	used  func(svc.Ref) time.Time // Config.LastUse

	mu     sync.Mutex // guards the fields below
	pulses map[*pulse]struct{}
	quit   chan struct{} // ends the loop, which runs while there are pulses
}

// pulse is the work of one process.
type pulse struct {
	worked          chan struct{} // holds a token if it worked since the last take
	pinging, pinged atomic.Bool   // a ping is under way, or was since the last look

	// Owned by activity.look.
	ref    svc.Ref
	host   driver.Host
	cpu    time.Duration // at the last look
	looked time.Time
}

func newPulse(h driver.Host) *pulse { return &pulse{worked: make(chan struct{}, 1), host: h} }

func newActivity(c Config) *activity {
	return &activity{every: min(lookEvery, c.PingEvery), used: c.LastUse, pulses: map[*pulse]struct{}{}}
}

// add looks at the runtime of a version, which serves, until remove.
func (a *activity) add(ref svc.Ref, of *process) *pulse {
	p := of.pulse
	p.ref, p.looked = ref, time.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pulses[p] = struct{}{}
	if a.quit == nil {
		a.quit = make(chan struct{})
		go a.loop(a.quit)
	}
	return p
}

func (a *activity) remove(p *pulse) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.pulses, p)
	if len(a.pulses) == 0 && a.quit != nil {
		close(a.quit)
		a.quit = nil
	}
}

func (a *activity) loop(quit <-chan struct{}) {
	tick := time.NewTicker(a.every)
	defer tick.Stop()
	for {
		select {
		case <-quit:
			return
		case <-tick.C:
			a.look()
		}
	}
}

func (a *activity) look() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for p := range a.pulses {
		now, cpu, ping := time.Now(), p.host.Work(), p.isPing()
		if a.used(p.ref).After(p.looked) || cpu == 0 || cpu != p.cpu && !ping {
			p.touch()
		}
		p.cpu, p.looked = cpu, now
	}
}

// isPing reports whether processor time since the last look may be that of a ping.
func (p *pulse) isPing() bool {
	pinged := p.pinged.Swap(false)
	return p.pinging.Load() || pinged
}

// ping runs a ping, whose own work does not count.
func (p *pulse) ping(do func() bool) bool {
	p.pinging.Store(true)
	defer func() {
		p.pinged.Store(true)
		p.pinging.Store(false)
	}()
	return do()
}

// touch notes that the runtime works, or has been asked to.
func (p *pulse) touch() {
	select {
	case p.worked <- struct{}{}:
	default:
	}
}

// take reports whether the runtime worked since the last take.
func (p *pulse) take() bool {
	select {
	case <-p.worked:
		return true
	default:
		return false
	}
}
