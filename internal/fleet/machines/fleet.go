package machines

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/fleet/driver"
	"github.com/svcctl/svcctl/internal/fleet/process"
	"github.com/svcctl/svcctl/internal/svc"
)

// Fleet is the driver.
type Fleet struct {
	cfg     Config
	started time.Time
	life    context.Context //nolint:containedctx // until Stop: lines outlive calls
	cancel  context.CancelFunc
	tasks   sync.WaitGroup

	mu      sync.Mutex       // guards the fields below
	hosts   map[string]*host // by session, until they have ended
	seen    map[string]bool  // machines that have joined this daemon
	back    returning
	gone    map[string]bool  // sessions of hosts that were lost with a version
	wanting []*want          // in order of their calls
	crowd   chan struct{}    // closed and replaced when a version begins to wait
	had     map[svc.Ref]bool // versions that this daemon gave to machines before Config.Inherited
	demand  int              // how many more spares the Policy knows to be needed

	suspected atomic.Int32 // hosts with a version that have been silent for suspectAfter
	updating  atomic.Bool  // updateDemand is called soon
	stopped   bool
}

var _ driver.Driver = (*Fleet)(nil)

// New returns a Fleet, which starts nothing.
func New(c Config) (*Fleet, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background()) //nolint:forbidigo // lines outlive calls
	return &Fleet{cfg: c, life: ctx, cancel: cancel, hosts: map[string]*host{}, seen: map[string]bool{}, crowd: make(chan struct{}), had: map[svc.Ref]bool{}, back: returning{nodes: map[string]bool{}}, gone: map[string]bool{}}, nil
}

// Start clears the run directory and takes the connections of machines.
func (f *Fleet) Start() error {
	if err := (process.Config{Logger: f.cfg.Logger, RunDir: f.cfg.RunDir}).Clear(); err != nil {
		return err
	}
	l, err := f.cfg.Authority.Listen(&lobby{Listener: f.cfg.Listen}, time.Now())
	if err != nil {
		return err
	}
	f.started = time.Now()
	f.back.begin(f)
	f.tasks.Go(func() { f.accept(l) })
	return nil
}

// Begin and End have nothing to do: no spares are started.
func (f *Fleet) Begin() {}

// End is Begin's.
func (f *Fleet) End() {}

// Spares returns how many hosts wait for a version.
func (f *Fleet) Spares() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.spares())
}

// spares are the hosts that wait, in a fixed order. The caller holds f.mu.
func (f *Fleet) spares() (list []*host) {
	for _, h := range f.hosts {
		if h.ready && !h.taken && !h.leaving && h.mark == "" {
			list = append(list, h)
		}
	}
	slices.SortFunc(list, func(a, b *host) int { return a.joined.Compare(b.joined) })
	return list
}

// Stop ends the lines. Hosts that have no version end; the others serve on and dial the next
// daemon, unless the supervisor has stopped them.
func (f *Fleet) Stop() {
	f.mu.Lock()
	f.stopped = true
	hosts := f.hosts
	f.hosts = map[string]*host{}
	f.mu.Unlock()
	f.cancel()
	_ = f.cfg.Listen.Close()
	f.back.end()
	for _, h := range hosts {
		h.hangUp(false)
	}
	f.tasks.Wait()
}

// leaves has the version of h moved, and gives no version to its machine any more.
func (f *Fleet) leaves(h *host) {
	f.mu.Lock()
	for _, o := range f.hosts {
		if o.machine == h.machine {
			o.leaving = true
		}
	}
	f.mu.Unlock()
	h.mu.Lock()
	version := h.version
	h.mu.Unlock()
	if version != (svc.Ref{}) {
		f.cfg.OnEvent(EventMoved)
		f.cfg.Move(version)
	}
}

// lost removes a host that has ended. silent says that its machine may not know it.
func (f *Fleet) lost(h *host, silent bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.hosts[h.session] == h {
		delete(f.hosts, h.session)
		if silent && time.Since(f.started) < returnLimit { // later no unknown host is taken back
			f.gone[h.session] = true
		}
	}
}

// noSpare is the error of a version for which no machine has a host. cause is why the last one
// could not be had; nil for none.
func (f *Fleet) noSpare(ref svc.Ref, cause error) error {
	return svc.Errorf(svc.Unavailable, svc.CodeNoSpareHost, "no worker host was free for %s within %s: %s", ref, f.cfg.Wait, f.lacking(cause)).
		WithHint("start svcd host on another machine, or with more --seats; on Kubernetes, raise the replicas of the spare hosts").Because(cause)
}

// lacking says why no host is free.
func (f *Fleet) lacking(cause error) string {
	if cause != nil {
		return svc.AsError(cause).Detail
	}
	if why := f.cfg.Policy.Lacking(); why != "" {
		return why
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	machines := map[string]bool{}
	for _, h := range f.hosts {
		machines[h.machine] = true
	}
	return count(len(machines))
}

func count(machines int) string {
	switch machines {
	case 0:
		return "no machine has joined"
	case 1:
		return "the hosts of 1 machine are taken"
	}
	return fmt.Sprintf("the hosts of %d machines are taken", machines)
}
