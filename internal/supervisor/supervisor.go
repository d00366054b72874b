package supervisor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/control"
	"github.com/svcctl/svcctl/internal/svc"
)

// The defaults of Config.
const (
	DefaultHeapMB       = 128
	DefaultStartTimeout = 10 * time.Second
	DefaultPingEvery    = 2 * time.Second
	DefaultPingTimeout  = 10 * time.Second
	DefaultGrace        = 5 * time.Second
)

// maxRunDir leaves room for "/01234567/http.sock" in a socket's path, which has
// at most 103 bytes on every platform.
const maxRunDir = 84

// Config is what a Supervisor is made of. Zero durations and sizes mean the
// defaults.
type Config struct {
	Logger      *slog.Logger
	HostCommand []string // runs a runtime host: our binary's path, and arguments
	Workerd     string   // path of the workerd binary
	RunDir      string   // absolute and short, for sockets; nothing else may use it
	Environ     []string // the whole environment of hosts, as "KEY=value"; workerds get a part

	Storage control.Storage // what every host is told about the object store

	HeapMB       int           // of a worker's V8, in MiB
	StartTimeout time.Duration // for workerd's sockets to listen
	PingEvery    time.Duration
	PingTimeout  time.Duration // without an answer for so long, a runtime is killed
	Grace        time.Duration // for requests under way when a version stops
	Policy       Policy

	// OnChange learns of every change of state, in order for each version. A
	// call ends before the method that caused it returns. It must not call
	// methods about the same version, and must not block for long.
	OnChange func(ref svc.Ref, state State, e Endpoint)
	// OnRestart learns why a runtime is about to be started again: a code of
	// workerd.Explain, "unresponsive", "host_exited" or an error's code.
	OnRestart func(ref svc.Ref, reason string)
	// OnRequests hears how many requests a host made to the object store. It must
	// not block.
	OnRequests func(list []control.Requests)
}

// Supervisor is described by the package.
type Supervisor struct {
	cfg   Config
	clean func() error // clears the run directory, once

	mu      sync.Mutex // guards what follows
	units   map[svc.Ref]*unit
	stopped bool
}

// New checks c. It starts nothing and touches no file.
func New(c Config) (*Supervisor, error) {
	switch {
	case c.Logger == nil:
		return nil, errors.New("supervisor: no logger")
	case len(c.HostCommand) == 0:
		return nil, errors.New("supervisor: no host command")
	case !filepath.IsAbs(c.HostCommand[0]):
		return nil, errors.New("supervisor: the host command must begin with an absolute path")
	case c.Workerd == "":
		return nil, errors.New("supervisor: no workerd binary")
	case !filepath.IsAbs(c.RunDir):
		return nil, errors.New("supervisor: the run directory must be absolute")
	case len(c.RunDir) > maxRunDir:
		return nil, fmt.Errorf("supervisor: the run directory %q is longer than %d bytes, which is too long for sockets", c.RunDir, maxRunDir)
	}
	c.defaults()
	return &Supervisor{
		cfg: c, units: map[svc.Ref]*unit{},
		clean: sync.OnceValue(func() error { return clearRunDir(c.RunDir) }),
	}, nil
}

func (c *Config) defaults() {
	c.HeapMB = orElse(c.HeapMB, DefaultHeapMB)
	c.StartTimeout = orElse(c.StartTimeout, DefaultStartTimeout)
	c.PingEvery = orElse(c.PingEvery, DefaultPingEvery)
	c.PingTimeout = orElse(c.PingTimeout, DefaultPingTimeout)
	c.Grace = orElse(c.Grace, DefaultGrace)
	c.Policy = c.Policy.orDefault()
	if c.OnChange == nil {
		c.OnChange = func(svc.Ref, State, Endpoint) {}
	}
	if c.OnRequests == nil {
		c.OnRequests = func([]control.Requests) {}
	}
	if c.OnRestart == nil {
		c.OnRestart = func(svc.Ref, string) {}
	}
}

func orElse[T int | time.Duration](v, fallback T) T {
	if v <= 0 {
		return fallback
	}
	return v
}

var runName = regexp.MustCompile(`^[0-9a-f]{8}$`)

// Start makes the run directory and clears it of what a daemon that was killed
// left. The first Open does so too.
func (s *Supervisor) Start(context.Context) error { return s.clean() }

func clearRunDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("making the run directory: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("reading the run directory: %w", err)
	}
	for _, e := range entries {
		if !runName.MatchString(e.Name()) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return fmt.Errorf("clearing the run directory: %w", err)
		}
	}
	return nil
}

// Open spawns the host of a version, which opens its data. With a runtime of
// the same spec there, it does nothing; one that crashed is started anew.
func (s *Supervisor) Open(ctx context.Context, spec Spec) error {
	if err := s.clean(); err != nil {
		return err
	}
	for {
		u, err := s.unit(spec.Ref, true)
		if err != nil {
			return err
		}
		err = u.exclusively(ctx, func(ctx context.Context) error { return u.open(ctx, spec) })
		if !errors.Is(err, errGone) {
			return err
		}
	}
}

// Prepare imports the seeds of an open version and applies its migrations, and
// says which.
func (s *Supervisor) Prepare(ctx context.Context, ref svc.Ref) (p control.Prepared, err error) {
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

// Serve starts the worker of an open version and returns once every socket of
// it listens; from then on it is kept alive. One that serves already is left
// alone. After an error the version is StateCrashed: Open it again, or stop it.
func (s *Supervisor) Serve(ctx context.Context, ref svc.Ref) (Endpoint, error) {
	u, err := s.unit(ref, false)
	if err != nil {
		return Endpoint{}, err
	}
	var e Endpoint
	err = u.exclusively(ctx, func(ctx context.Context) error {
		e, err = u.serve(ctx)
		return err
	})
	return e, notOpen(ref, err)
}

// Cut asks the runtime of a version for one moment of its data. It waits for a
// runtime that is starting.
func (s *Supervisor) Cut(ctx context.Context, ref svc.Ref) (cut control.Cut, err error) {
	u, err := s.unit(ref, false)
	if err != nil {
		return cut, err
	}
	cut, err = u.cut(ctx)
	return cut, notOpen(ref, err)
}

// Archive brings the data of a version without a runtime into the object store:
// a host does it and ends. Then then runs, before anything may open the version
// again. A data directory that is not there has nothing to bring. It may be
// repeated; a version that runs is a Conflict, runtime_open, and runs on.
func (s *Supervisor) Archive(ctx context.Context, spec Spec, then func() error) error {
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
			took, err = u.archive(ctx, spec, then)
			return err
		})
		if took {
			s.drop(u)
		}
		if !errors.Is(err, errGone) {
			return err
		}
	}
}

// drop forgets a unit that is gone.
func (s *Supervisor) drop(u *unit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.units[u.ref] == u {
		delete(s.units, u.ref)
	}
}

// StopVersion ends the runtime of a version: requests under way have the grace
// to finish, then it is killed. When ctx ends it is killed at once. A version
// without a runtime is no error.
func (s *Supervisor) StopVersion(ctx context.Context, ref svc.Ref) error {
	s.mu.Lock()
	u := s.units[ref]
	s.mu.Unlock()
	if u == nil {
		return nil
	}
	if u.stop(ctx) { // else somebody else did
		s.drop(u)
	}
	return nil
}

// Stop ends every runtime and refuses new ones. When ctx ends, those that are
// left are killed. Stopping twice is harmless.
func (s *Supervisor) Stop(ctx context.Context) error {
	s.mu.Lock()
	s.stopped = true
	refs := slices.Collect(maps.Keys(s.units))
	s.mu.Unlock()
	var wg sync.WaitGroup
	errs := make([]error, len(refs))
	for i, ref := range refs {
		wg.Go(func() { errs[i] = s.StopVersion(ctx, ref) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// Runtimes describes every runtime, by version.
func (s *Supervisor) Runtimes() []Runtime {
	s.mu.Lock()
	units := slices.Collect(maps.Values(s.units))
	s.mu.Unlock()
	out := make([]Runtime, len(units))
	for i, u := range units {
		out[i] = u.describe()
	}
	slices.SortFunc(out, func(a, b Runtime) int { return compareRefs(a.Ref, b.Ref) })
	return out
}

// unit finds the unit of ref, or makes one.
func (s *Supervisor) unit(ref svc.Ref, create bool) (*unit, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.units[ref]
	switch {
	case s.stopped:
		return nil, svc.Errorf(svc.Unavailable, "shutting_down", "the service is shutting down")
	case u == nil && !create:
		return nil, notOpen(ref, errGone)
	case u == nil:
		u = newUnit(s.cfg, ref)
		s.units[ref] = u
	}
	return u, nil
}

// errGone says that a unit was stopped and left the table.
var errGone = errors.New("the runtime was stopped")

func notOpen(ref svc.Ref, err error) error {
	if !errors.Is(err, errGone) {
		return err
	}
	return svc.Errorf(svc.Conflict, "runtime_not_open", "version %s has no runtime", ref)
}
