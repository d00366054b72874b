package dev

import (
	"context"
	"net/http"
	"path/filepath"

	"github.com/svcctl/svcctl/internal/client/build"
	"github.com/svcctl/svcctl/internal/client/esbuild"
	"github.com/svcctl/svcctl/internal/client/front"
	"github.com/svcctl/svcctl/internal/client/watch"
	"github.com/svcctl/svcctl/internal/svc"
)

// worker is one project of a session, with its saves.
type worker struct {
	*Session

	out       *printer
	request   build.Request
	root      string // worker directory
	configDir string // of the project file
	project   string
	name      string // of the worker in its project file, if project was made from it; else ""
	base      string // what the data is, for the first banner

	outputs watch.Output // of a framework's build
	command *commandRun  // nil without a build command
	asBuilt bool         // the next build does without the build command
	also    []string     // what is watched beside the tree

	state   *state
	front   *front.Front
	watcher *watch.Watcher
	bundler esbuild.Session
	tidier  *tidier
	logs    follower

	built   *build.Result     // the last build that succeeded
	env     map[string]string // overrides of the version that serves
	problem bool              // the last save is not served
	told    front.Problem     // the last one
}

// addWorkers reads the project files.
func (s *Session) addWorkers() error {
	for _, req := range s.cfg.Builds {
		w, err := s.newWorker(req)
		if err != nil {
			return err
		}
		for _, other := range s.workers {
			if other.project == w.project {
				return svc.Errorf(svc.Unprocessable, svc.CodeConfigInvalid, "two project files have the name %s", w.project).
					WithHint("rename one of them")
			}
		}
		s.workers = append(s.workers, w)
	}
	s.focus = s.workers[0]
	return nil
}

func (s *Session) newWorker(req build.Request) (*worker, error) {
	file, notices, err := req.Load()
	if err != nil {
		return nil, err
	}
	w := &worker{Session: s, out: s.out, request: req, root: file.Root, configDir: file.Dir}
	if w.project, err = file.ProjectID(req.Project); err != nil {
		return nil, err
	}
	if req.Project == "" {
		w.name = file.WorkerName
	}
	if len(s.cfg.Builds) > 1 {
		w.out = s.out.named(w.project)
	}
	w.logs.worker = w
	w.outputs = outputs(file)
	for _, n := range notices {
		w.out.once(n.String())
	}
	if w.outputs.Dirs != nil {
		w.out.note("the build of the project makes what is served: run %s after a change, or let it watch", builder(file.Root))
	}
	return w, nil
}

// open reads the saves of the sessions before.
func (w *worker) open() (err error) {
	if w.state, err = w.folder.state(w.project, w.cfg.Remote); err != nil {
		return err
	}
	w.front = front.New(front.Config{LiveReload: w.cfg.LiveReload, Named: w.named, Finished: w.out.request, Cron: w.cronOf, Logger: w.cfg.Logger})
	return nil
}

// named reports whether a request is for a version that its host names.
func (w *worker) named(r *http.Request) bool {
	return w.server != nil && w.server.Named != nil && w.server.Named(r)
}

// begin prepares the first save.
func (w *worker) begin(ctx context.Context, a *attempt) {
	w.tidier = newTidier(ctx, w)
	b := w.first(ctx)
	a.parent, a.reuse, w.base = b.version, b.reuse, b.text
}

// unwatch ends new saves and requests.
func (w *worker) unwatch() {
	if w.watcher != nil {
		w.watcher.Close()
	}
	if w.front != nil {
		w.front.Close()
	}
}

// close ends the work on versions.
func (w *worker) close(ctx context.Context) {
	w.bundler.Close()
	w.logs.stop()
	if w.tidier != nil {
		w.tidier.stop()
		w.leave(ctx)
	}
}

// leave stops the versions of the session on a shared server: the one that serves and
// those that the tidier has not archived yet. Their data stays. A server of the session's
// own ends with it, and the next session archives what it finds.
func (w *worker) leave(ctx context.Context) {
	if w.server.Own {
		return
	}
	for _, id := range w.tidier.left() {
		if _, err := w.server.Client.Archive(ctx, w.project, id); err != nil && !over(err) {
			w.out.note("version %s still runs: %v", id, err)
		}
	}
}

// build builds the worker directory once, and returns the overrides of its version.
func (w *worker) build(ctx context.Context) (b *build.Result, env map[string]string, err error) {
	req := w.request
	req.Session, req.SourceMaps, req.TempDir = &w.bundler, true, w.bundles()
	if err := makeDir(req.TempDir); err != nil {
		return nil, nil, err
	}
	vars, err := w.vars()
	if err != nil {
		return nil, nil, err
	}
	if w.cfg.Remote == "" {
		req.Vars = vars
	} else {
		env = vars
	}
	req.Command = w.aroundCommand
	if b, err = build.Bundle(ctx, req); err != nil {
		w.watch(w.wanted()) //nolint:contextcheck // as in addWorkers
		w.watcher.Read(nil) // it does not tell all that it has read
		return nil, nil, err
	}
	if b.Config.Build.Command == "" {
		w.command = nil
	}
	b.Watch = append(b.Watch, w.varPaths()...)
	w.outputs = outputs(b.Config)
	w.watcher.Built(w.outputs)
	w.watch(b.Watch)
	w.watcher.Read(b.Watch)
	return b, env, nil
}

// watch replaces the list of files and directories to watch beside those of the tree.
func (w *worker) watch(paths []string) {
	w.also = paths
	w.watcher.Also(paths)
	if w.command != nil {
		w.command.include(watch.Outside(w.root, paths))
	}
}

// wanted are the files and directories whose change may mend a build that fails: what the
// last good one has read, and what the project file names. They may not exist yet, as
// before the first build of a framework.
func (w *worker) wanted() []string {
	paths := w.varPaths()
	if w.built != nil {
		paths = append(paths, w.built.Watch...)
	}
	file, _, err := w.request.Load()
	if err != nil {
		return paths
	}
	if file.Main != "" {
		paths = append(paths, filepath.Dir(file.Main))
	}
	if file.Assets != nil {
		paths = append(paths, file.Assets.Dir)
	}
	return paths
}
