package supervisor

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/fleet/driver"
	"github.com/svcctl/svcctl/internal/svc"
)

// The defaults of Config.
const (
	DefaultHeapMB       = 128
	DefaultStartTimeout = 10 * time.Second
	DefaultStartCPU     = 5 * time.Second
	DefaultPingEvery    = 2 * time.Second
	DefaultPingIdle     = 5 * time.Minute
	DefaultPingTimeout  = 10 * time.Second
	DefaultDiskTimeout  = 2 * time.Minute
	DefaultHangTimeout  = 40 * time.Second
	DefaultGrace        = 5 * time.Second
)

// Config configures a Supervisor. Zero durations and sizes mean the defaults.
type Config struct {
	Logger *slog.Logger
	Driver driver.Driver // gives versions their worker hosts
	// Leave has Stop leave runtimes running: their hosts serve on without a daemon, and the
	// next one takes them back.
	Leave bool

	Host svc.HostConfig // the part of a spec that is equal for all versions

	PingEvery   time.Duration // of a runtime that works
	PingIdle    time.Duration // of a runtime that does nothing; it is pinged when it begins to work
	PingTimeout time.Duration // a runtime that does not answer for this time is killed
	DiskTimeout time.Duration // the same for one that works on its disk meanwhile
	HangTimeout time.Duration // a worker host that replies to nothing for this time while it starts a runtime is killed
	Grace       time.Duration // for requests in flight when a version stops
	Policy      Policy

	// Wanted reports whether visitors want a version: after a crash it waits at most
	// Policy.Max, else Policy.Idle. Nil: every version is wanted.
	Wanted func(ref svc.Ref) bool

	// LastUse returns when the gateway last sent a request to a version, now if one is in
	// progress. Nil: never.
	LastUse func(ref svc.Ref) time.Time

	// Calls listens in runDir for the calls that the worker of spec makes to other workers,
	// before the worker starts. They come from the worker host with the process id host, 0 for
	// one on another machine, or from this process. The supervisor closes what Calls returns
	// after the runtime has ended. Nil: workers call no others.
	Calls func(ctx context.Context, spec svc.RuntimeSpec, runDir string, host int) (io.Closer, error)

	// OnChange is called for every change of State and RetryAt, in order for each
	// version, before the method that caused the change returns. It must not call
	// methods for the same version and must not block for long. Memory and descriptors
	// are not measured.
	OnChange func(r svc.Runtime)
	// OnRestart is called before a restart with its reason: a code of
	// workerd.Explain, "unresponsive", "host_exited" or the code of an error.
	OnRestart func(ref svc.Ref, reason string)
	// Unlogged is called with the reason for the end of a runtime whose worker host did not
	// write it to the log of the version.
	Unlogged func(ref svc.Ref, reason string)
	// OnRequests is called with the number of requests of a host to the object store.
	// It must not block.
	OnRequests func(list []svc.RequestCount)
	// OnLaunch is called after a worker host has opened a version; spare tells whether the
	// host was ready before.
	OnLaunch func(spare bool)
	// OnEvents is called with the number of events of a worker that ended.
	OnEvents func(list []svc.EventCount)
	// OnSpans is called with spans of traces that a worker host reports; nil for none.
	OnSpans func(list []svc.Span)
}

// Supervisor runs the runtimes of versions. It is safe for concurrent use.
type Supervisor struct {
	cfg   Config
	clean func() error // Driver.Start, once

	driver   driver.Driver
	activity *activity

	mu      sync.Mutex // guards the fields below
	units   map[svc.Ref]*unit
	stopped bool
}

// New returns a Supervisor, or an error if c is incomplete. It starts nothing and
// does no I/O.
func New(c Config) (*Supervisor, error) {
	switch {
	case c.Logger == nil:
		return nil, errors.New("supervisor: logger required")
	case c.Driver == nil:
		return nil, errors.New("supervisor: driver required")
	}
	c.defaults()
	return &Supervisor{
		cfg: c, units: map[svc.Ref]*unit{}, driver: c.Driver, activity: newActivity(c), clean: sync.OnceValue(c.Driver.Start),
	}, nil
}

func (c *Config) defaults() {
	c.Host.HeapMB = cmp.Or(c.Host.HeapMB, DefaultHeapMB)
	c.Host.StartTimeout = cmp.Or(c.Host.StartTimeout, DefaultStartTimeout)
	c.Host.StartCPU = cmp.Or(c.Host.StartCPU, DefaultStartCPU)
	c.PingEvery = cmp.Or(c.PingEvery, DefaultPingEvery)
	c.PingIdle = max(c.PingEvery, cmp.Or(c.PingIdle, DefaultPingIdle))
	c.PingTimeout = cmp.Or(c.PingTimeout, DefaultPingTimeout)
	c.DiskTimeout = cmp.Or(c.DiskTimeout, DefaultDiskTimeout)
	c.HangTimeout = cmp.Or(c.HangTimeout, DefaultHangTimeout)
	c.Grace = cmp.Or(c.Grace, DefaultGrace)
	c.Policy = c.Policy.orDefault()
	if c.Calls == nil {
		c.Calls = func(context.Context, svc.RuntimeSpec, string, int) (io.Closer, error) { return io.NopCloser(nil), nil }
	}
	if c.OnChange == nil {
		c.OnChange = func(svc.Runtime) {}
	}
	if c.LastUse == nil {
		c.LastUse = func(svc.Ref) time.Time { return time.Time{} }
	}
	if c.Wanted == nil {
		c.Wanted = func(svc.Ref) bool { return true }
	}
	if c.OnRequests == nil {
		c.OnRequests = func([]svc.RequestCount) {}
	}
	if c.OnEvents == nil {
		c.OnEvents = func([]svc.EventCount) {}
	}
	if c.OnLaunch == nil {
		c.OnLaunch = func(bool) {}
	}
	if c.Unlogged == nil {
		c.Unlogged = func(svc.Ref, string) {}
	}
	if c.OnRestart == nil {
		c.OnRestart = func(svc.Ref, string) {}
	}
}

// Start has the driver remove files and processes of an earlier daemon. The first Open does so
// too.
func (s *Supervisor) Start(context.Context) error { return s.clean() }

// Open spawns the worker host of a version, which opens the data. If a runtime with
// the same spec is open or restarting, Open does nothing.
func (s *Supervisor) Open(ctx context.Context, spec svc.RuntimeSpec) error {
	if err := s.clean(); err != nil {
		return err
	}
	for {
		u, err := s.unit(spec.Ref, true)
		if err != nil {
			return err
		}
		err = u.exclusively(ctx, func(ctx context.Context) error { return u.open(ctx, spec) })
		if !errors.Is(err, errStopped) {
			return err
		}
	}
}

// Prepare scrubs the data of an open version if required, imports its seeds and
// applies its migrations.
func (s *Supervisor) Prepare(ctx context.Context, ref svc.Ref) (p svc.Prepared, err error) {
	u, err := s.unit(ref, false)
	if err != nil {
		return p, err
	}
	err = u.exclusively(ctx, func(ctx context.Context) error {
		p, err = u.prepare(ctx)
		return err
	})
	return p, notOpen(ref, err)
}

// Serve starts the worker of an open version and returns when every socket listens;
// from then on the runtime is restarted after each crash. Idempotent; while the runtime
// restarts, the error is Unavailable, runtime_restarting. After another error the
// runtime is crashed: Open it again, Restart it, or stop it.
func (s *Supervisor) Serve(ctx context.Context, ref svc.Ref) (svc.Endpoint, error) {
	u, err := s.unit(ref, false)
	if err != nil {
		return svc.Endpoint{}, err
	}
	var e svc.Endpoint
	err = u.exclusively(ctx, func(ctx context.Context) error {
		e, err = u.serve(ctx)
		return err
	})
	return e, notOpen(ref, err)
}

// Cut returns a cut of a version's data from its runtime. It waits for a runtime that
// is starting; if the next start is not soon, the error is Unavailable,
// runtime_restarting.
func (s *Supervisor) Cut(ctx context.Context, ref svc.Ref) (cut branch.VersionCut, err error) {
	u, err := s.unit(ref, false)
	if err != nil {
		return cut, err
	}
	cut, err = u.cut(ctx)
	return cut, notOpen(ref, err)
}

// Archive ships the data of a version without a runtime, or whose runtime waits after a
// crash, to the object store, with a temporary worker host, and then calls after, before
// the version can be opened again. Without a data directory it does nothing. Idempotent.
// A version that runs is a Conflict, runtime_open, and is not stopped.
func (s *Supervisor) Archive(ctx context.Context, spec svc.RuntimeSpec, after func() error) error {
	if err := s.clean(); err != nil {
		return err
	}
	for {
		u, err := s.unit(spec.Ref, true)
		if err != nil {
			return err
		}
		took := false
		err = u.exclusively(ctx, func(ctx context.Context) (err error) {
			took, err = u.archive(ctx, spec, after)
			return err
		})
		if took {
			s.drop(u)
		}
		if !errors.Is(err, errStopped) {
			return err
		}
	}
}

// drop removes a stopped unit.
func (s *Supervisor) drop(u *unit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.units[u.ref] == u {
		delete(s.units, u.ref)
	}
}

// StopVersion stops the runtime of a version, if any: requests in flight have the
// grace to finish, then the runtime is killed. When ctx ends, it is killed
// immediately.
func (s *Supervisor) StopVersion(ctx context.Context, ref svc.Ref) error {
	s.mu.Lock()
	u := s.units[ref]
	s.mu.Unlock()
	if u == nil {
		return nil
	}
	if u.stop(ctx) { // else another call has dropped it
		s.drop(u)
	}
	return nil
}

// Stop stops every runtime, or none with Config.Leave, and rejects new ones. When ctx ends, the
// remaining ones are killed. Idempotent.
func (s *Supervisor) Stop(ctx context.Context) error {
	s.mu.Lock()
	s.stopped = true
	refs := slices.Collect(maps.Keys(s.units))
	s.mu.Unlock()
	if s.cfg.Leave {
		return s.leave(refs)
	}
	var wg sync.WaitGroup
	errs := make([]error, len(refs))
	for i, ref := range refs {
		wg.Go(func() { errs[i] = s.StopVersion(ctx, ref) })
	}
	wg.Wait()
	s.driver.Stop() // it carries the verbs that stop versions
	return errors.Join(errs...)
}

// leave ends the watch over runtimes and leaves them running.
func (s *Supervisor) leave(refs []svc.Ref) error {
	for _, ref := range refs {
		if u := s.known(ref); u != nil {
			u.leave()
		}
	}
	s.driver.Stop()
	return nil
}

// Spares returns the number of worker hosts that wait for a version.
func (s *Supervisor) Spares() int { return s.driver.Spares() }

// Endpoint returns where the runtime of a version listens; false if it does not serve.
func (s *Supervisor) Endpoint(ref svc.Ref) (svc.Endpoint, bool) {
	u, err := s.unit(ref, false)
	if err != nil || u == nil {
		return svc.Endpoint{}, false
	}
	now := u.describe()
	return now.Endpoint, now.State == svc.RuntimeServing
}

// Measured returns Runtimes with the use of memory and descriptors by their processes, which
// takes about 0.1 ms for each.
func (s *Supervisor) Measured() []svc.Runtime { return s.all((*unit).measured) }

// Runtimes describes every runtime, sorted by version. Memory and descriptors are not measured.
func (s *Supervisor) Runtimes() []svc.Runtime { return s.all((*unit).describe) }

func (s *Supervisor) all(describe func(*unit) svc.Runtime) []svc.Runtime {
	s.mu.Lock()
	units := slices.Collect(maps.Values(s.units))
	s.mu.Unlock()
	out := make([]svc.Runtime, len(units))
	for i, u := range units {
		out[i] = describe(u)
	}
	slices.SortFunc(out, func(a, b svc.Runtime) int { return a.Ref.Compare(b.Ref) })
	return out
}

// unit returns the unit of ref, and creates it if create is set.
func (s *Supervisor) unit(ref svc.Ref, create bool) (*unit, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.units[ref]
	switch {
	case s.stopped:
		return nil, svc.Errorf(svc.Unavailable, svc.CodeShuttingDown, "the daemon is shutting down")
	case u == nil && !create:
		return nil, notOpen(ref, errStopped)
	case u == nil:
		u = newUnit(s, ref)
		s.units[ref] = u
	}
	return u, nil
}

// errStopped: the unit was stopped and is no longer in Supervisor.units.
var errStopped = errors.New("the runtime was stopped")

func notOpen(ref svc.Ref, err error) error {
	if !errors.Is(err, errStopped) {
		return err
	}
	return svc.Errorf(svc.Conflict, svc.CodeRuntimeNotOpen, "version %s has no runtime", ref)
}
