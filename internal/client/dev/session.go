package dev

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/svcctl/svcctl/internal/client/build"
	"github.com/svcctl/svcctl/internal/client/esbuild"
	"github.com/svcctl/svcctl/internal/client/front"
	"github.com/svcctl/svcctl/internal/client/watch"
	"github.com/svcctl/svcctl/internal/svc"
)

// stopLimit is how long the end of a session may take.
const stopLimit = 45 * time.Second

// Session is one run of watch mode.
type Session struct {
	cfg       Config
	out       *printer
	root      string // worker directory
	configDir string // of the project file
	project   string

	folder  *folder
	state   *state
	address *address
	front   *front.Front
	watcher *watch.Watcher
	server  *Server
	bundler esbuild.Session
	tidier  *tidier
	logs    follower

	terminal *terminal // nil without one
	prompt   *prompt   // nil unless an answer is being typed

	built   *build.Result     // the last build that succeeded
	env     map[string]string // overrides of the version that serves
	problem bool              // the last save is not served
}

// Run runs watch mode until ctx ends or the server fails.
func Run(ctx context.Context, cfg Config) error {
	file, notices, err := cfg.Build.Load()
	if err != nil {
		return err
	}
	s := &Session{cfg: cfg, out: newPrinter(cfg.Out, cfg.Color), root: file.Root, configDir: file.Dir}
	if s.project = cfg.Build.Project; s.project == "" {
		s.project = file.Name
	}
	if s.project == "" {
		return svc.Errorf(svc.Unprocessable, svc.CodeProjectUnnamed, "the project file has no name").
			WithHint("add one, or name the project with --project")
	}
	for _, n := range notices {
		s.out.note("%s", n)
	}
	defer s.bundler.Close()
	return errors.Join(s.open(ctx), s.run(ctx), s.close(ctx))
}

// open takes the directory and the address.
func (s *Session) open(ctx context.Context) (err error) {
	if s.folder, err = openFolder(s.root); err != nil {
		return err
	}
	if s.state, err = s.folder.state(s.project, s.cfg.Remote); err != nil {
		return err
	}
	s.front = front.New(front.Config{LiveReload: s.cfg.LiveReload, Named: s.named, Finished: s.out.request, Logger: s.cfg.Logger})
	if s.address, err = listen(ctx, s.cfg.Port, s.cfg.AnyPort, s.front, s.cfg.Logger); err != nil {
		return err
	}
	if err := s.folder.own(s.address.url()); err != nil {
		return fmt.Errorf("writing the address of watch mode: %w", err)
	}
	s.watcher, err = watch.New(watch.Config{Root: s.root, Warn: func(text string) { s.out.note("%s", text) }})
	return err
}

// close ends what open and run have begun, in the reverse order.
func (s *Session) close(ctx context.Context) error {
	ctx, release := signal.NotifyContext(context.WithoutCancel(ctx), syscall.SIGINT, syscall.SIGTERM)
	defer release()
	ctx, cancel := context.WithTimeout(ctx, stopLimit)
	defer cancel()
	var errs []error
	if s.terminal != nil {
		s.terminal.close()
	}
	if s.watcher != nil {
		s.watcher.Close()
	}
	if s.front != nil {
		s.front.Close()
	}
	if s.address != nil {
		s.address.close()
	}
	s.logs.stop()
	if s.tidier != nil {
		s.tidier.stop()
		s.leave(ctx)
	}
	if s.server != nil {
		errs = append(errs, s.server.Stop(ctx))
	}
	if s.folder != nil {
		errs = append(errs, s.folder.close())
	}
	return errors.Join(errs...)
}

// leave stops the versions of the session on a shared server: the one that serves and
// those that the tidier has not archived yet. Their data stays. A server of the session's
// own ends with it, and the next session archives what it finds.
func (s *Session) leave(ctx context.Context) {
	if s.server.Own {
		return
	}
	for _, id := range s.tidier.left() {
		if _, err := s.server.Client.Archive(ctx, s.project, id); err != nil && !over(err) {
			s.out.note("version %s still runs: %v", id, err)
		}
	}
}

// named reports whether a request is for a version that its host names.
func (s *Session) named(r *http.Request) bool {
	return s.server != nil && s.server.Named != nil && s.server.Named(r)
}

// run serves the saves.
func (s *Session) run(ctx context.Context) error {
	if s.watcher == nil {
		return nil // open failed
	}
	if err := s.begin(ctx); err != nil {
		return s.end(ctx, err)
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case changed := <-s.watcher.Changes():
			if err := s.save(ctx, changed); err != nil {
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

// end returns err, unless the user has ended the session.
func (s *Session) end(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil //nolint:nilerr // the user has ended the session
	}
	return err
}

// begin starts the server and builds at the same time, and makes the first version.
func (s *Session) begin(ctx context.Context) error {
	type started struct {
		server *Server
		err    error
	}
	ready := make(chan started, 1)
	go func() {
		server, err := s.cfg.Start(ctx, Place{Dir: s.folder.path, Project: s.project, Address: s.address.url()})
		ready <- started{server, err}
	}()
	a := attempt{began: time.Now(), first: true}
	a.built, a.env, a.problem = s.build(ctx)
	r := <-ready
	if r.err != nil {
		return r.err
	}
	s.server = r.server
	s.tidier, s.logs.session = newTidier(ctx, s), s
	base := s.base(ctx)
	keys := ""
	if s.terminal = openTerminal(s.cfg.In); s.terminal != nil {
		keys = help
	}
	s.out.banner(s.project, s.address.url(), base.text, keys)
	a.parent, a.reuse = base.version, base.reuse
	return s.apply(ctx, a)
}

// build builds the worker directory once, and returns the overrides of its version.
func (s *Session) build(ctx context.Context) (b *build.Result, env map[string]string, err error) {
	req := s.cfg.Build
	req.Session, req.SourceMaps, req.TempDir = &s.bundler, true, filepath.Join(s.folder.path, "bundles")
	if err := makeDir(req.TempDir); err != nil {
		return nil, nil, err
	}
	vars, err := s.vars()
	if err != nil {
		return nil, nil, err
	}
	if s.cfg.Remote == "" {
		req.Vars = vars
	} else {
		env = vars
	}
	if b, err = build.Bundle(ctx, req); err != nil {
		return nil, nil, err
	}
	b.Watch = append(b.Watch, s.varPaths()...)
	s.watcher.Also(b.Watch)
	return b, env, nil
}
