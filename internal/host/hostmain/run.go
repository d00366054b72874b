package hostmain

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/dataplane"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/all"
	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/host/durable"
	"github.com/svcctl/svcctl/internal/host/workerhost"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	gcPercent  = 50              // a host is idle nearly always: memory matters more
	gcStarting = 400             // until a worker serves: collections cost more than the memory is worth
	settleTime = time.Second     // after which a host gives back what starting took
	closeLimit = 2 * time.Second // for the data of a version whose workerd died
)

// ErrUseless says that the host ends because its workerd did, or because its
// data is another's now.
var ErrUseless = errors.New("the runtime cannot continue")

// Run is a runtime host, from the first message on the control line until the
// daemon stops it, its workerd dies or its data is lost (ErrUseless), or the
// daemon is gone.
func Run(ctx context.Context) error {
	debug.SetGCPercent(gcStarting)
	ignoreSignals()
	conn, err := control.Inherited()
	if err != nil {
		return fmt.Errorf("a runtime host is started by the daemon only: %w", err)
	}
	log := slog.New(slog.NewJSONHandler(os.Stderr, nil)) // host.log
	slog.SetDefault(log)                                 //nolint:forbidigo // the binding kinds get no logger
	if err := raiseFileLimit(); err != nil {
		log.WarnContext(ctx, "cannot raise the limit of open files; continuing", "error", err)
	}
	server := control.NewServer(conn, log)
	died, requests := make(chan struct{}), new(counts)
	opens := &opener{log: log, requests: requests}
	host := workerhost.New(workerhost.Options{
		Logger: log, Open: opens.open, Stage: opens.stage, Plan: plan, Archive: archive(log, requests, server), Environ: workerdEnv(os.Environ()),
		Exited: func(e control.Exit) {
			_ = server.Tell(control.Notice{Exit: &e}) // a daemon that is gone need not know
			close(died)
		},
		Rests: func(rests bool) { // else the collector runs every two minutes, in each host
			debug.SetGCPercent(map[bool]int{true: -1, false: gcPercent}[rests])
		},
		Works: func() { _ = server.Tell(control.Notice{Works: true}) }, // as above
	})
	orphaned := make(chan error, 1)
	go func() { orphaned <- server.Serve(ctx, &settling{Host: host}) }()
	select {
	case err := <-orphaned:
		return leave(host, err)
	case <-died:
		err = errors.Join(ErrUseless, host.Close(closeLimit))
	case <-host.Done():
	}
	// Tell waits until the daemon has it. That is after the answer to Stop, which goes before it.
	n := control.Notice{Requests: requests.take(), Events: host.TakeEvents(), Spans: host.TakeSpans()}
	_ = server.Tell(n) // a daemon that is gone need not know
	return err
}

// leave ends a host whose daemon is gone. The host exits immediately: the
// next daemon starts every version itself. This is the one place to change when
// hosts are to outlive a daemon that is being upgraded.
func leave(host *workerhost.Host, err error) error {
	host.Kill()
	return err
}

// ignoreSignals leaves it to the daemon when a host ends, also where a terminal
// or a service manager signals every process. Unlike signal.Ignore it is not
// inherited by workerd.
func ignoreSignals() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
}

// settling gives memory back once a worker serves or a spare waits.
type settling struct {
	*workerhost.Host

	spare atomic.Bool // its output does not go to the log of a version yet
}

func (s *settling) Warm(ctx context.Context, c control.Spare) error {
	s.spare.Store(true)
	err := s.Host.Warm(ctx, c)
	if err == nil {
		debug.FreeOSMemory()
	}
	return err
}

// Open first directs the output of a spare to the log of the version.
func (s *settling) Open(ctx context.Context, spec svc.RuntimeSpec) error {
	if s.spare.CompareAndSwap(true, false) {
		if err := logTo(spec.Local.LogDir); err != nil {
			return fmt.Errorf("opening the log of the host: %w", err)
		}
	}
	return s.Host.Open(ctx, spec)
}

// logTo makes the host's log in dir the standard output and error of this process.
func logTo(dir string) error {
	f, err := control.OpenLog(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return errors.Join(duplicate(f, os.Stdout), duplicate(f, os.Stderr))
}

func (s *settling) Serve(ctx context.Context) (svc.Endpoint, error) {
	ready, err := s.Host.Serve(ctx)
	if err == nil {
		time.AfterFunc(settleTime, settle)
	}
	return ready, err
}

// settle gives back what a start took.
func settle() {
	debug.SetGCPercent(gcPercent)
	debug.FreeOSMemory()
}

// resources are a version's bindings and its data.
type resources struct {
	*binding.Set
	volumes  *dataplane.Volumes
	objects  *durable.Keeper // nil without Durable Objects
	requests *counts
	seal     *seal
}

// plan is the config for workerd about the bindings of m.
func plan(s svc.RuntimeSpec, m *bundle.Manifest, site binding.Site) ([]binding.Wiring, bool, error) {
	return binding.Plan(all.KindsOf(s), m, site)
}

// Cut is a moment of the data.
func (r resources) Cut(ctx context.Context) (cut branch.VersionCut, err error) {
	var staged *dataplane.Staged
	stage := func() (err error) { staged, err = r.volumes.Stage(ctx); return err }
	if r.objects != nil {
		err = r.objects.Cut(ctx, stage)
	} else {
		err = stage()
	}
	if err == nil {
		cut.Databases, cut.Warm, err = staged.Ship(ctx)
	}
	return cut, err
}

// State is how far the object store is behind.
func (r resources) State() control.Pong {
	age, failing := r.volumes.Behind()
	p := control.Pong{Behind: age, Requests: r.requests.take(), Tallies: r.Tallies()}
	if failing != nil {
		p.Error = failing.Error()
	}
	return p
}

// Close closes the bindings before the data.
func (r resources) Close() error {
	r.seal.refuse(svc.Errorf(svc.Unavailable, svc.CodeRuntimeStopping, "the version stops")) // what waits must end
	err := r.Set.Close()
	if r.objects != nil {
		err = errors.Join(err, r.objects.Close())
	}
	return errors.Join(err, r.volumes.Close())
}
