package dev

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/svcctl/svcctl/internal/client/inspect"
	"github.com/svcctl/svcctl/internal/client/watch"
)

// stopLimit is how long the end of a session may take.
const stopLimit = 45 * time.Second

// Session is one run of watch mode: a server, an address, and the workers behind it.
type Session struct {
	cfg     Config
	out     *printer
	workers []*worker // in the order of Config.Builds
	focus   *worker   // that the keys are for
	folder  *folder   // of the first worker
	address *address
	server  *Server
	changes chan watch.Batch

	inspector   *inspect.Proxy // nil if debuggers cannot attach
	inspectorAt *address

	terminal *terminal // nil without one
	prompt   *prompt   // nil unless an answer is being typed
}

// Run runs watch mode until ctx ends or the server fails.
func Run(ctx context.Context, cfg Config) error {
	s := &Session{cfg: cfg, out: newPrinter(cfg.Out, cfg.Color), changes: make(chan watch.Batch)}
	if err := s.addWorkers(); err != nil { //nolint:contextcheck // an evaluation of a project file has its own limit
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	return errors.Join(s.open(ctx), s.run(ctx), s.close(ctx))
}

// open takes the directory and the address.
func (s *Session) open(ctx context.Context) (err error) {
	if s.folder, err = openFolder(s.workers[0].root); err != nil {
		return err
	}
	if s.folder.cut {
		s.out.note("the machine went down during the last session: saves of its last half minute may be lost (--fresh begins anew)")
	}
	for _, w := range s.workers {
		if err := w.open(); err != nil {
			return err
		}
	}
	if s.address, err = listen(ctx, portFlag{"--port", s.cfg.Port, s.cfg.AnyPort}, s, s.cfg.Logger); err != nil {
		return err
	}
	if err := s.folder.own(s.address.url()); err != nil {
		return fmt.Errorf("writing the address of watch mode: %w", err)
	}
	if err := s.openInspector(ctx); err != nil {
		return err
	}
	for _, w := range s.workers {
		w.watcher, err = watch.New(watch.Config{Root: w.root, Out: s.changes, Warn: func(text string) { w.out.note("%s", text) }})
		if err != nil {
			return err
		}
		w.watcher.Built(w.outputs)
	}
	return nil
}

// close ends what open and run have begun, in the reverse order.
func (s *Session) close(ctx context.Context) error {
	ctx, release := untilForced(context.WithoutCancel(ctx))
	defer release()
	ctx, cancel := context.WithTimeout(ctx, stopLimit)
	defer cancel()
	var errs []error
	if s.prompt != nil { // the shell's prompt begins in a line of its own
		s.prompt = nil
		s.out.answered()
	}
	if s.terminal != nil {
		s.terminal.close()
	}
	for _, w := range s.workers {
		w.unwatch()
	}
	if s.address != nil {
		s.address.close()
	}
	s.closeInspector()
	for _, w := range s.workers {
		w.close(ctx)
	}
	if s.server != nil {
		errs = append(errs, s.server.Stop(ctx))
	}
	if s.folder != nil {
		errs = append(errs, s.folder.close())
	}
	return errors.Join(errs...)
}

// run serves the saves, one at a time.
func (s *Session) run(ctx context.Context) error {
	if s.workers[len(s.workers)-1].watcher == nil {
		return nil // open failed
	}
	if err := s.begin(ctx); err != nil {
		return s.end(ctx, err)
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case c := <-s.changes:
			if err := s.watchedBy(c.Of).save(ctx, c.Paths); err != nil {
				return s.end(ctx, err)
			}
		case err := <-s.server.Failed:
			return err
		case r := <-s.keys():
			quit, err := s.key(ctx, r)
			if err != nil || quit {
				return s.end(ctx, err)
			}
		}
	}
}

// watchedBy is the worker of a watcher.
func (s *Session) watchedBy(of *watch.Watcher) *worker {
	return s.workers[slices.IndexFunc(s.workers, func(w *worker) bool { return w.watcher == of })]
}

// end returns err, unless the user has ended the session.
func (s *Session) end(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil //nolint:nilerr // the user has ended the session
	}
	return err
}

// begin starts the server and builds at the same time, and makes the first versions.
func (s *Session) begin(ctx context.Context) error {
	s.terminal = openTerminal(s.cfg.In)
	type started struct {
		server *Server
		err    error
	}
	ready := make(chan started, 1)
	go func() {
		server, err := s.cfg.Start(ctx, Place{Dir: s.folder.path, Project: s.workers[0].project, Address: s.address.url()})
		ready <- started{server, err}
	}()
	attempts := make([]attempt, len(s.workers))
	for i, w := range s.workers {
		attempts[i] = attempt{began: time.Now(), first: true}
		attempts[i].built, attempts[i].env, attempts[i].problem = w.build(ctx)
	}
	r := <-ready
	if r.err != nil {
		return r.err
	}
	s.server = r.server
	for i, w := range s.workers {
		w.begin(ctx, &attempts[i])
	}
	keys := ""
	if s.terminal != nil {
		keys = s.help()
	}
	s.banners(keys)
	for i, w := range slices.Backward(s.workers) { // the first one usually calls the others
		if err := w.apply(ctx, attempts[i]); err != nil {
			return err
		}
	}
	return nil
}

// banners names the addresses, and the keys unless they are "".
func (s *Session) banners(keys string) {
	for _, w := range s.workers {
		w.out.banner(w.project, w.url(), w.base)
		w.base = ""
	}
	for _, a := range []*address{s.address, s.inspectorAt} {
		if a != nil && a.instead != "" {
			s.out.once(a.instead)
		}
	}
	if s.inspectorAt != nil {
		s.out.write(fmt.Sprintf("debuggers attach at %s (chrome://inspect, or an editor: see the guide)", s.inspectorAt.host()))
	}
	if keys != "" {
		s.out.write(s.out.paint(gray, keys))
	}
}
