package workerhost

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/svc"
)

// Resources are the open bindings of a version and the data behind them. They
// serve the requests that workerd sends for them.
type Resources interface {
	http.Handler
	// Seed imports what the data, a parent's too, has not seen yet.
	Seed(ctx context.Context, m *bundle.Manifest, files fs.FS) (done []svc.SeedFile, err error)
	Migrate(ctx context.Context, m *bundle.Manifest, files fs.FS) (applied []string, err error)
	// Scrub is for versions that begin with production's data [D23].
	Scrub(ctx context.Context, project string, s svc.Scrub) error
	Wire(s binding.Site) []binding.Wiring
	// Data serves what is in them to the API. Errors go to fail.
	Data(fail func(http.ResponseWriter, *http.Request, error)) http.Handler
	// Objects keeps the storage of Durable Objects, which workerd writes itself; nil for a
	// version without any.
	Objects() Objects
	// Cut gives one moment of the data, for a child to begin with.
	Cut(ctx context.Context) (branch.VersionCut, error)
	// Seal is one step of a release.
	Seal(ctx context.Context, s control.Seal) (control.Sealing, error)
	// Positions says where the data begins.
	Positions() control.Positions
	// SetEvents says whether the worker gets events.
	SetEvents(ctx context.Context, on bool) error
	// SetReadOnly says whether the worker may write and gets events.
	SetReadOnly(ctx context.Context, on bool) error
	// Warnings are for the version's warnings.
	Warnings() []string
	// CallsWorker reports whether a binding calls the worker.
	CallsWorker() bool
	// Start starts the bindings that call the worker; Stop ends them for good, and
	// what they have under way when ctx ends.
	Start(ctx context.Context, w binding.Worker) error
	Stop(ctx context.Context)
	Arm(ctx context.Context, armed bool) error
	// Wake says when they need the worker next.
	Wake() svc.Wake
	// State reports the state of the data. It does not block.
	State() control.Pong
	Close() error
}

// Objects keeps what workerd writes to a directory.
type Objects interface {
	// Dir is the directory.
	Dir() string
	// Own gives the files, also those that are made later, to the uid of a workerd that starts. They are
	// taken back when it has ended.
	Own(uid int) error
	// Opening makes the file at path before workerd opens it, if it is that of an object. After
	// an error it must not be opened.
	Opening(ctx context.Context, path string) error
	// MakeAll makes all files, for a workerd whose opens are not reported.
	MakeAll(ctx context.Context) error
	// Follow says that workerd serves, until the Resources are closed. pause stops workerd
	// completely until resume is called.
	Follow(ctx context.Context, pause func() (resume func(), err error))
}

// Options are what a Host works with.
type Options struct {
	Logger *slog.Logger
	// Open opens what a manifest declares. lost is called, at most once, when the
	// data must not be served any more.
	Open func(ctx context.Context, s svc.RuntimeSpec, m *bundle.Manifest, lost func(error)) (Resources, error)
	// Stage prepares, before the data of the version is known, what Open will need; nil does nothing.
	Stage func(ctx context.Context, s svc.RuntimeSpec)
	// Plan gives the config for workerd about the bindings of a manifest, before they are
	// open, and whether one of them may call the worker.
	Plan func(s svc.RuntimeSpec, m *bundle.Manifest, site binding.Site) (wirings []binding.Wiring, calls bool, err error)
	// Archive brings a version's data into the object store and gives it up.
	Archive func(ctx context.Context, s svc.RuntimeSpec) error
	// Environ is the environment of workerd, as "KEY=value", beside what workerd.Environ
	// adds. Workers can read it.
	Environ []string
	// Exited learns, once, that the host is of no more use: workerd ended and
	// without a request to stop, or another owner claimed the data.
	Exited func(control.Exit)
	// Rests is called when host and workerd have done nothing for a while, and when they
	// have work again; never without a limit of memory.
	Rests func(rests bool)
	// Works is called, in a goroutine of its own, when the worker gets an event after that.
	Works func()

	spans *spans // set by New
}

// Host answers what a daemon asks.
type Host struct {
	opts   Options
	done   chan struct{} // closed once stopped, or workerd died
	once   sync.Once
	exited sync.Once

	events eventCounts
	hold   hold

	open atomic.Pointer[version] // version, for those that do not wait for mu

	mu      sync.Mutex // held while the host is opened, prepared, started or closed
	version *version   // nil before Open and after the end
	staged  *version   // by Stage; nil after Open
	ended   bool
	ready   svc.Endpoint

	spare    *worker // started by Warm, until Open
	spareFor control.Spare

	workerMu sync.Mutex // guards worker
	worker   *worker    // nil, or starting, or serving
}

var _ control.Handler = (*Host)(nil)

// New starts nothing.
func New(o Options) *Host {
	if o.Rests == nil {
		o.Rests = func(bool) {}
	}
	if o.Works == nil {
		o.Works = func() {}
	}
	o.spans = new(spans)
	return &Host{opts: o, done: make(chan struct{})}
}

// Done is closed when the host has no more to do: it was stopped, or its
// workerd died.
func (h *Host) Done() <-chan struct{} { return h.done }

func (h *Host) finish() { h.once.Do(func() { close(h.done) }) }

// Open opens the version's bundle, data and binding server. It waits for the
// data while an earlier host still holds it.
func (h *Host) Open(ctx context.Context, spec svc.RuntimeSpec) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.version != nil || h.ended {
		return svc.Errorf(svc.Conflict, svc.CodeRuntimeOpen, "this host was opened before")
	}
	v := h.staged
	h.staged = nil
	if v == nil {
		v = new(version)
		if err := h.prepareFor(ctx, v, spec); err != nil {
			return err
		}
	}
	if err := v.openData(ctx, h.opts, spec, h.lose); err != nil {
		return h.abandon(ctx, v, err)
	}
	h.version = v
	h.hold.openWith(spec)
	h.open.Store(v)
	return nil
}

// Stage implements control.Handler: workerd compiles the worker meanwhile.
func (h *Host) Stage(ctx context.Context, spec svc.RuntimeSpec) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.version != nil || h.staged != nil || h.ended {
		return svc.Errorf(svc.Conflict, svc.CodeRuntimeOpen, "this host was opened before")
	}
	if err := h.warm(ctx, control.SpareOf(spec)); err != nil {
		return err
	}
	v := new(version)
	if err := h.prepareFor(ctx, v, spec); err != nil {
		return err
	}
	if w := h.running(); w != nil {
		if err := h.await(ctx, v, w); err != nil {
			return h.abandon(ctx, v, err)
		}
	}
	if h.opts.Stage != nil {
		h.opts.Stage(ctx, spec)
	}
	h.staged = v
	return nil
}

// prepareFor opens what v has beside its data.
func (h *Host) prepareFor(ctx context.Context, v *version, spec svc.RuntimeSpec) error {
	v.spec = spec
	if err := v.prepare(ctx, h.opts); err != nil {
		return h.abandon(ctx, v, err)
	}
	h.begin(ctx, v)
	return nil
}

// abandon closes a version that cannot be opened, and returns err.
func (h *Host) abandon(ctx context.Context, v *version, err error) error {
	if w := h.running(); w != nil { // started ahead
		h.setWorker(nil)
		w.kill()
	}
	if closeErr := v.close(); closeErr != nil {
		h.opts.Logger.ErrorContext(ctx, "closing what was opened", "error", closeErr)
	}
	h.opts.Logger.ErrorContext(ctx, "the version cannot be opened", "bundle", v.spec.Digest, "error", err)
	return err
}

// lose ends the host immediately: it no longer owns the data.
func (h *Host) lose(cause error) {
	if w := h.running(); w != nil {
		w.kill()
	}
	h.exit(control.Exit{Code: svc.CodeOf(cause), Detail: svc.AsError(cause).Detail})
}

// exit says why the host is of no more use.
func (h *Host) exit(e control.Exit) {
	h.exited.Do(func() { h.opts.Exited(e) })
	h.finish()
}

// Archive has nothing open but the data, and not for long.
func (h *Host) Archive(ctx context.Context, spec svc.RuntimeSpec) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.version != nil || h.ended {
		return svc.Errorf(svc.Conflict, svc.CodeRuntimeOpen, "this host was opened before")
	}
	h.ended = true
	lock, err := lockDir(ctx, spec.Local.DataDir)
	if err != nil {
		return err
	}
	return errors.Join(h.opts.Archive(ctx, spec), lock.Close())
}

// Cut cuts the data while requests continue.
func (h *Host) Cut(ctx context.Context) (branch.VersionCut, error) {
	v := h.open.Load()
	if v == nil {
		return branch.VersionCut{}, errNotOpen()
	}
	return v.resources.Cut(ctx)
}

// Positions implements control.Handler.
func (h *Host) Positions(context.Context) (control.Positions, error) {
	v := h.open.Load()
	if v == nil {
		return nil, errNotOpen()
	}
	return v.resources.Positions(), nil
}

// Prepare scrubs the data, if it has to be, imports the seeds that the data has
// not seen yet, and applies the migrations: in this order, for a seed must not
// carry off what the scrub has to find, and may be the data of a time when there
// were fewer migrations.
func (h *Host) Prepare(ctx context.Context) (p svc.Prepared, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	v, err := h.opened()
	if err != nil {
		return p, err
	}
	files := os.DirFS(v.spec.Local.BundleDir)
	if err = v.resources.Scrub(ctx, v.spec.Ref.Project, v.spec.Scrub); err != nil {
		return p, err
	}
	if p.Seeded, err = v.resources.Seed(ctx, &v.manifest, files); err != nil {
		return p, err
	}
	p.Warnings = v.resources.Warnings()
	began := time.Now()
	p.Applied, err = v.resources.Migrate(ctx, &v.manifest, files)
	p.Took = time.Since(began)
	return p, err
}

func (h *Host) opened() (*version, error) {
	if h.version == nil {
		return nil, errNotOpen()
	}
	return h.version, nil
}

// Serve starts workerd and returns when every socket of it listens. A worker
// that serves already is left alone.
func (h *Host) Serve(ctx context.Context) (svc.Endpoint, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	v, err := h.opened()
	if err != nil || h.ready.Socket != "" {
		return h.ready, err
	}
	w, err := h.start(ctx, v)
	if err != nil {
		return svc.Endpoint{}, err
	}
	socket := filepath.Join(v.spec.Local.RunDir, httpSocket)
	if v.port == nil {
		v.port, err = openPort(context.WithoutCancel(ctx), socket, h.opts.Logger)
	}
	if err != nil {
		w.kill()
		h.setWorker(nil)
		return svc.Endpoint{}, err
	}
	h.ready = svc.Endpoint{Socket: socket, Calls: filepath.Join(v.spec.Local.RunDir, callSocket), Port: v.port.number(), PortKey: v.port.key, WorkerdPID: w.pid(), Inspector: w.port}
	if o := v.resources.Objects(); o != nil {
		o.Follow(ctx, w.pause)
	}
	go h.watch(context.WithoutCancel(ctx), w)
	h.followAddresses(context.WithoutCancel(ctx), w, v.network, v.spec.Host.Network)
	if err := v.resources.Start(ctx, h); err != nil {
		w.kill()
		h.setWorker(nil)
		h.ready = svc.Endpoint{}
		return svc.Endpoint{}, err
	}
	return h.ready, nil
}

// start gives the workerd of v, whose sockets listen: the one that Open began, or another.
func (h *Host) start(ctx context.Context, v *version) (*worker, error) {
	if w := h.running(); w != nil {
		blind := w.door == nil && v.resources.CallsWorker() // Plan did not expect that
		if blind {
			w.kill()
		}
		err := h.await(ctx, v, w)
		if !blind && (err == nil || !w.lost) {
			return w, err
		}
		h.opts.Logger.WarnContext(ctx, "the workerd that was started ahead ended; starting another", "error", err)
	}
	held := h.hold.isOn()
	text, err := v.render(held)
	if err != nil {
		return nil, err
	}
	w, err := startWorker(ctx, h.opts, v, text)
	if err != nil {
		return nil, err
	}
	h.hold.starts(w, held)
	h.setWorker(w)
	if err := h.await(ctx, v, w); err != nil {
		return nil, err
	}
	h.toldAlarms(ctx)
	return w, nil
}

// await waits until w listens. With an error, w is gone.
func (h *Host) await(ctx context.Context, v *version, w *worker) error {
	err := w.awaitListening(ctx, v.spec.Host)
	if err != nil {
		h.setWorker(nil)
	}
	return err
}

// watch tells the daemon when w ends by itself.
func (h *Host) watch(ctx context.Context, w *worker) {
	<-w.exited
	w.awaitEvents(ctx)
	if w.stopped.Load() {
		return
	}
	exit := w.explainExit()
	w.logExit(exit)
	h.opts.Logger.ErrorContext(ctx, "workerd exited unexpectedly", "code", exit.Code, "detail", exit.Detail)
	h.exit(exit)
}

// Ping asks workerd's event loop, without any JavaScript: there is an answer
// exactly when nothing blocks the loop.
func (h *Host) Ping(ctx context.Context) (pong control.Pong, err error) {
	w := h.running()
	if w == nil || !w.serving.Load() {
		return pong, errNotServing()
	}
	w.memory.ping()
	if v := h.open.Load(); v != nil {
		pong = v.resources.State()
	}
	pong.Events, pong.Spans = h.TakeEvents(), h.TakeSpans()
	return pong, ping(ctx, filepath.Join(w.dir, pingSocket))
}

// Stop ends workerd, gently within the grace, and closes the data. It says when the
// version must run next for its own work, with what the last requests left to do.
func (h *Host) Stop(ctx context.Context, s control.Stop) (svc.Wake, error) {
	until := time.Now().Add(s.Grace)
	h.endEvents(ctx, until)
	if w := h.running(); w != nil {
		w.stop(ctx, time.Until(until))
		w.awaitEvents(ctx)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if w := h.running(); w != nil { // it began to start meanwhile
		w.stop(ctx, time.Until(until))
	}
	left, _ := h.NextWake(ctx)
	return left, h.close()
}

// Stopped implements control.Stopped: the host has no more to do.
func (h *Host) Stopped() { h.finish() }

// Kill ends workerd immediately and leaves the data open, which is safe.
func (h *Host) Kill() {
	if w := h.running(); w != nil {
		w.kill()
	}
}

// Close closes the data. It does not wait longer than limit.
func (h *Host) Close(limit time.Duration) error {
	closed := make(chan error, 1)
	go func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		closed <- h.close()
	}()
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case err := <-closed:
		return err
	case <-t.C:
		return fmt.Errorf("closing the data took longer than %s", limit)
	}
}

// close needs h.mu.
func (h *Host) close() error {
	h.ended = true
	v := h.version
	if v == nil {
		v = h.staged
		h.staged = nil
	}
	if v == nil {
		return nil
	}
	h.version = nil
	h.open.Store(nil)
	return v.close()
}

func (h *Host) running() *worker {
	h.workerMu.Lock()
	defer h.workerMu.Unlock()
	return h.worker
}

func (h *Host) setWorker(w *worker) {
	h.workerMu.Lock()
	defer h.workerMu.Unlock()
	h.worker = w
}
