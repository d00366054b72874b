package supervisor

import (
	"context"
	"os"
	"sync"
	"time"

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

// spares keeps worker hosts that wait for a version, each with a workerd that waits for its
// config. A spare serves one version and ends with it.
type spares struct {
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

// spare is a process without a version.
type spare struct {
	*process

	workerd os.FileInfo // the file that its workerd runs
}

func newSpares(cfg Config) *spares {
	s := &spares{cfg: cfg, keep: cfg.Spares, after: spareAfter, from: spareFrom}
	if cfg.SparesSoon {
		s.after, s.from = soonAfter, 1
	}
	s.timer = time.AfterFunc(time.Hour, s.fill)
	s.timer.Stop()
	return s
}

// begin notes that a launch begins. It returns a spare for it, or nil.
func (s *spares) begin() *process {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.launches++
	s.under++
	s.timer.Stop()
	now, err := os.Stat(s.cfg.Workerd)
	for len(s.ready) > 0 {
		next := s.ready[0]
		s.ready = s.ready[1:]
		if err == nil && next.alive() && !next.ended() && unchanged(next.workerd, now) {
			return next.process
		}
		next.kill()
	}
	return nil
}

// unchanged reports whether the file was neither replaced nor written.
func unchanged(was, now os.FileInfo) bool {
	return os.SameFile(was, now) && was.ModTime().Equal(now.ModTime()) && was.Size() == now.Size()
}

// end notes that a launch has ended.
func (s *spares) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.under--; s.under == 0 && s.launches >= s.from && len(s.ready) < s.keep && !s.stopped {
		s.timer.Reset(s.after)
	}
}

// fill starts the missing spares, one after another, unless a version is being launched.
func (s *spares) fill() {
	if !s.beginFill() {
		return
	}
	defer s.filling.Done()
	for {
		next, err := s.start()
		if err != nil {
			s.cfg.Logger.Warn("starting a spare host failed; versions start without", "error", err)
			return
		}
		if !s.add(next) {
			return
		}
	}
}

func (s *spares) beginFill() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped || s.under > 0 || len(s.ready) >= s.keep {
		return false
	}
	s.filling.Add(1)
	return true
}

// add keeps a spare, and reports whether another one is missing.
func (s *spares) add(next *spare) (more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		next.kill()
		return false
	}
	s.ready = append(s.ready, next)
	return len(s.ready) < s.keep && s.under == 0
}

// start starts a spare and returns when its workerd runs.
func (s *spares) start() (*spare, error) {
	info, err := os.Stat(s.cfg.Workerd)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), warmLimit) //nolint:forbidigo // no call asks for a spare
	defer cancel()
	p, err := spawnWith(ctx, s.cfg, s.cfg.RunDir)
	if err != nil {
		return nil, err
	}
	if err := p.client.Warm(ctx, control.SpareOf(p.spec(s.cfg, svc.RuntimeSpec{}))); err != nil {
		p.kill()
		return nil, p.explain(ctx, err)
	}
	return &spare{p, info}, nil
}

// stop ends the spares, and all that are being started.
func (s *spares) stop() {
	s.mu.Lock()
	s.stopped = true
	s.timer.Stop()
	ready := s.ready
	s.ready = nil
	s.mu.Unlock()
	for _, p := range ready {
		p.kill()
		<-p.exited
	}
	s.filling.Wait()
}

// count is how many spares are ready.
func (s *spares) count() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.ready {
		if p.alive() {
			n++
		}
	}
	return n
}
