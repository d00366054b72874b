package process

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/fleet/driver"
	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	// spareAfter is the time after the last launch at which the missing spares are started: a
	// spare that starts beside a version delays the version.
	spareAfter = 300 * time.Millisecond
	// soonAfter is the same for a developer, who saves one version at a time: it serves then.
	soonAfter = 50 * time.Millisecond
	// spareFrom is the launch from which on there are spares: a server of one version needs none.
	spareFrom = 2
	// warmLimit is the time limit for a spare to be ready.
	warmLimit = 10 * time.Second
)

// Driver starts worker hosts on this machine. It keeps spares: worker hosts that wait for a
// version, each with a workerd that waits for its config. A spare serves one version and ends
// with it.
type Driver struct {
	cfg   Config
	keep  int
	after time.Duration // since the last launch
	from  int           // number of launches

	mu       sync.Mutex // guards the fields below
	ready    []*spare
	launches int // all of them
	under    int // launches under way
	timer    *time.Timer
	filling  sync.WaitGroup
	stopped  bool
}

var _ driver.Driver = (*Driver)(nil)

// spare is a process without a version.
type spare struct {
	*Process

	workerd os.FileInfo // the file that its workerd runs
}

// New returns a Driver, which starts nothing. It checks cfg.
func New(cfg Config) (*Driver, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	d := &Driver{cfg: cfg, keep: cfg.Spares, after: spareAfter, from: spareFrom}
	if cfg.SparesSoon {
		d.after, d.from = soonAfter, 1
	}
	d.timer = time.AfterFunc(time.Hour, d.fill)
	d.timer.Stop()
	return d, nil
}

// Start is driver.Driver.Start.
func (d *Driver) Start() error { return d.cfg.Clear() }

// Begin notes that a launch begins.
func (d *Driver) Begin() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.launches++
	d.under++
	d.timer.Stop()
}

// Take returns a spare, or starts a worker host.
func (d *Driver) Take(ctx context.Context, spec svc.RuntimeSpec, fresh bool) (h driver.Host, isSpare bool, err error) { //nolint:ireturn // as declared
	if !fresh {
		if p := d.next(); p != nil {
			return p, true, nil
		}
	}
	if err := os.MkdirAll(spec.Local.DataDir, 0o700); err != nil {
		return nil, false, err
	}
	p, err := Start(ctx, d.cfg, spec.Local.LogDir)
	if err != nil {
		return nil, false, err
	}
	return p, false, nil
}

// next takes a spare that is alive and whose workerd is the installed one; nil for none.
func (d *Driver) next() *Process {
	d.mu.Lock()
	defer d.mu.Unlock()
	now, err := os.Stat(d.cfg.Workerd)
	for len(d.ready) > 0 {
		next := d.ready[0]
		d.ready = d.ready[1:]
		if err == nil && next.alive() && unchanged(next.workerd, now) {
			return next.Process
		}
		next.Kill()
	}
	return nil
}

// unchanged reports whether the file was neither replaced nor written.
func unchanged(was, now os.FileInfo) bool {
	return os.SameFile(was, now) && was.ModTime().Equal(now.ModTime()) && was.Size() == now.Size()
}

// End notes that a launch has ended.
func (d *Driver) End() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.under--; d.under == 0 && d.launches >= d.from && len(d.ready) < d.keep && !d.stopped {
		d.timer.Reset(d.after)
	}
}

// fill starts the missing spares, one after another, unless a version is being launched.
func (d *Driver) fill() {
	if !d.beginFill() {
		return
	}
	defer d.filling.Done()
	for {
		next, err := d.start()
		if err != nil {
			d.cfg.Logger.Warn("starting a spare host failed; versions start without", "error", err)
			return
		}
		if !d.add(next) {
			return
		}
	}
}

func (d *Driver) beginFill() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopped || d.under > 0 || len(d.ready) >= d.keep {
		return false
	}
	d.filling.Add(1)
	return true
}

// add keeps a spare, and reports whether another one is missing.
func (d *Driver) add(next *spare) (more bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopped {
		next.Kill()
		return false
	}
	d.ready = append(d.ready, next)
	return len(d.ready) < d.keep && d.under == 0
}

// start starts a spare and returns when its workerd runs.
func (d *Driver) start() (*spare, error) {
	info, err := os.Stat(d.cfg.Workerd)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), warmLimit) //nolint:forbidigo // no call asks for a spare
	defer cancel()
	p, err := Start(ctx, d.cfg, d.cfg.RunDir)
	if err != nil {
		return nil, err
	}
	spec := p.Fill(svc.RuntimeSpec{Host: d.cfg.Host})
	if err := p.client.Warm(ctx, control.SpareOf(spec)); err != nil {
		p.Kill()
		<-p.exited
		return nil, fmt.Errorf("%w (%s)", err, p.End().State)
	}
	return &spare{p, info}, nil
}

// Stop ends the spares, and all that are being started.
func (d *Driver) Stop() {
	d.mu.Lock()
	d.stopped = true
	d.timer.Stop()
	ready := d.ready
	d.ready = nil
	d.mu.Unlock()
	for _, p := range ready {
		p.Kill()
		<-p.exited
	}
	d.filling.Wait()
}

// Spares returns how many spares are ready.
func (d *Driver) Spares() (n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range d.ready {
		if p.alive() {
			n++
		}
	}
	return n
}

// SparePIDs returns the processes of the spares.
func (d *Driver) SparePIDs() (pids []int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range d.ready {
		pids = append(pids, p.cmd.Process.Pid)
	}
	return pids
}

// alive reports whether neither the process nor its control line has ended.
func (p *Process) alive() bool {
	select {
	case <-p.exited:
		return false
	case <-p.client.Ended():
		return false
	default:
		return true
	}
}
