package workerhost

import (
	"context"
	"errors"
	"os"

	"github.com/svcctl/svcctl/internal/host/confine"
	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/svc"
)

// waits is the config of a spare: it comes by standard input.
//
//nolint:gochecknoglobals // a constant
var waits = new(configFile)

// Warm starts a workerd that waits for its config, for the version that Open names. It can
// start before the version is known because the config brings the modules along: confined to
// the run directory of this host, it reads no file of a version.
func (h *Host) Warm(ctx context.Context, s control.Spare) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.version != nil || h.staged != nil || h.ended || h.spare != nil {
		return svc.Errorf(svc.Conflict, svc.CodeRuntimeOpen, "this host was opened before")
	}
	return h.warm(ctx, s)
}

// warm is Warm, unless a workerd waits already. It needs h.mu.
func (h *Host) warm(ctx context.Context, s control.Spare) error {
	if h.spare != nil {
		return nil
	}
	w := &worker{dir: s.RunDir, exited: make(chan struct{}), config: waits, inspect: s.Inspect}
	var err error
	if w.owner, err = takeOwner(s.Isolation); err != nil {
		return err
	}
	w.confine = func() error {
		return confineThread(s.Confine, w.owner != nil, confine.Profile{Program: s.Workerd, Write: []string{s.RunDir}, Listen: s.Inspect}, h.opts.Logger)
	}
	w.calls = &calls{context: context.WithoutCancel(ctx), dir: checked(s.Confine, w.dir), log: h.opts.Logger, failed: w.kill, blind: w.owner.isHidden()}
	if err := w.spawn(h.opts, s.Workerd); err != nil {
		return err
	}
	h.spare, h.spareFor = w, s
	h.setWorker(w) // for Kill
	return nil
}

// begin gives the spare workerd its config before the data is open: the top level of a worker
// cannot reach its bindings, and no request comes before Serve. Where that is not possible,
// Serve starts another workerd.
func (h *Host) begin(ctx context.Context, v *version) {
	w := h.spare
	if w == nil {
		return
	}
	h.spare = nil
	var config []byte
	err := h.unfit(v)
	if err == nil {
		config, err = v.encode(h.opts)
	}
	if err == nil && w.adopt(h.opts, v, config) {
		return
	}
	h.opts.Logger.InfoContext(ctx, "the workerd that was started ahead is not used", "error", err)
	h.setWorker(nil)
	w.kill()
}

// unfit says why the spare cannot be the workerd of v.
func (h *Host) unfit(v *version) error {
	switch {
	case len(v.manifest.ObjectClasses) > 0: // it may not write to their directory
		return errors.New("the version has Durable Objects")
	case h.spareFor != control.SpareOf(v.spec):
		return errors.New("it was started with other settings")
	}
	return nil
}

// adopt makes a spare the workerd of v, and reports false if it has ended.
func (w *worker) adopt(o Options, v *version, config []byte) bool {
	w.claim.Lock()
	defer w.claim.Unlock()
	if w.ended {
		return false
	}
	w.taken = true
	w.attach(o, v)
	w.read()
	w.watchMemory()
	go func() { // a pipe holds 64 KiB
		_, _ = w.input.Write(config) // it fails if workerd ends, which Serve notices
		_ = w.input.Close()
	}()
	return true
}

// end notes that the process has ended, and reports whether a version has it.
func (w *worker) end() bool {
	w.claim.Lock()
	defer w.claim.Unlock()
	w.ended = true
	if !w.taken {
		for _, f := range []*os.File{w.control, w.outputs[0], w.outputs[1], w.input} {
			_ = f.Close() // nothing was written to them
		}
	}
	return w.taken
}
