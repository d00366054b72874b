package dev

import (
	"context"
	"os"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/pkg/api"
)

// A save that changes only static files restarts nothing: it makes a version, which has
// no processes, and the version whose worker runs shows the files of the new one. The
// data stays with the worker that runs, and the new version has it as it was at the
// switch: that is the data of the save before, so the two saves exchange their data
// (Save.Data).

// onlyFiles reports whether a build differs from the save that serves in static files
// alone, and the server can show them in the worker that runs.
func (w *worker) onlyFiles(ctx context.Context, a attempt) bool {
	current := w.state.current()
	if w.server.ShowFiles == nil || current == nil || a.first || a.parent != current.data() || a.built.Manifest.Assets == nil {
		return false
	}
	f, err := os.Open(w.bundle(current.Version))
	if err != nil {
		return false
	}
	defer f.Close()
	m, err := bundle.ReadManifest(ctx, f, bundle.Limits{})
	return err == nil && bundle.SameWorker(m, a.built.Manifest)
}

// showFiles makes the version of a save of static files. If that fails, or the worker
// cannot show them, the save is like any other.
func (w *worker) showFiles(ctx context.Context, a attempt) error {
	n := w.state.Last + 1
	v, err := w.deploy(ctx, order{project: w.project, parent: a.parent, file: a.built.File, digest: a.built.Digest, env: a.env, asleep: true}, &n)
	w.state.Last = max(w.state.Last, n)
	if err == nil {
		err = w.server.ShowFiles(ctx, api.Version{ProjectID: v.ProjectID, ID: a.parent}, v)
	}
	if err != nil {
		w.cfg.Logger.DebugContext(ctx, "static files need a new worker", "error", err)
		w.tidier.discard(w.id(n))
		return w.replace(ctx, a, bundleFile{a.built.File, a.built.Digest})
	}
	w.front.Reload()
	w.problem = false
	save := Save{N: n, Version: v.ID, Parent: a.parent, Digest: a.built.Digest, At: time.Now(), Changed: a.changed, Data: a.parent}
	w.state.current().Data = v.ID
	w.out.saved(save, a, "  (static files alone: nothing was restarted)")
	w.record(save)
	return nil
}
