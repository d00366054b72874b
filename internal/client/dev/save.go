package dev

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/client/build"
	"github.com/svcctl/svcctl/internal/client/project"
	"github.com/svcctl/svcctl/pkg/api"
)

const (
	// drainLimit is how long a switch waits for requests in flight. What a longer request
	// writes after the switch is in the data of the version before only.
	drainLimit = 100 * time.Millisecond
	// unansweredLimit is how long it waits for those whose answer has not begun. They most
	// likely still write; an answer that has begun may be a stream without an end.
	unansweredLimit = 2 * time.Second
)

// attempt is one build and what is to become of it.
type attempt struct {
	began   time.Time
	first   bool
	changed []string // files for people
	silent  bool     // say nothing if nothing changed
	parent  string   // version whose data is branched; "" for none
	reuse   *api.Version
	built   *build.Result     // nil if the build failed
	env     map[string]string // overrides of the version
	problem error
	took    time.Duration // of the build
}

// bundleFile is a bundle that becomes a version, and then the property of its save.
type bundleFile struct{ path, digest string }

// save handles one batch of changed files.
func (w *worker) save(ctx context.Context, changed []string) error {
	known, starts := w.changed(changed)
	if !starts {
		return nil
	}
	a := attempt{began: time.Now(), changed: known, silent: len(known) == 0}
	if len(known) == 0 {
		a.changed = w.shown(changed)
	}
	if current := w.state.current(); current != nil {
		a.parent = current.data()
	}
	w.watcher.Settle(ctx) // git may have begun after these changes
	a.built, a.env, a.problem = w.build(ctx)
	a.took = time.Since(a.began)
	return w.apply(ctx, a)
}

// changed tells which files of a batch the last build has read, for people, and whether the batch starts
// a build.
func (w *worker) changed(paths []string) (known []string, starts bool) {
	if w.command != nil {
		return w.sinceCommand()
	}
	known = w.known(paths)
	if len(known) == 0 && w.ofOthers(paths) {
		return nil, false
	}
	if len(known) == 0 && !w.problem && gone(paths) {
		return nil, false // what tools wrote before they renamed it: the new name follows
	}
	return known, true
}

// known are the changed files that the last build has read, for people.
func (w *worker) known(changed []string) []string {
	var list []string
	for _, path := range changed {
		if w.reads(path) {
			list = append(list, path)
		}
	}
	return w.shown(list)
}

// reads reports whether the last build has read the file.
func (w *worker) reads(path string) bool {
	return w.built != nil && slices.ContainsFunc(w.built.Watch, func(watched string) bool {
		return path == watched || strings.HasPrefix(path, watched+string(filepath.Separator))
	})
}

// gone reports whether none of the paths exists any more.
func gone(paths []string) bool {
	return !slices.ContainsFunc(paths, func(path string) bool {
		_, err := os.Lstat(path)
		return err == nil
	})
}

// ofOthers reports whether all files belong to other workers, whose directories may be
// within that of w.
func (w *worker) ofOthers(paths []string) bool {
	return !slices.ContainsFunc(paths, func(path string) bool {
		return !slices.ContainsFunc(w.workers, func(other *worker) bool { return other != w && other.reads(path) })
	})
}

func (w *worker) shown(paths []string) []string {
	if output := w.byBuild(paths); output != nil {
		return output
	}
	list := make([]string, len(paths))
	for i, p := range paths {
		list[i] = p
		if rel, err := filepath.Rel(w.root, p); err == nil && filepath.IsLocal(rel) {
			list[i] = filepath.ToSlash(rel)
		}
	}
	return list
}

// apply makes a version of a build and switches to it. It returns an error only if
// watch mode cannot continue; all other failures are shown.
func (w *worker) apply(ctx context.Context, a attempt) error {
	if a.problem != nil {
		return w.refuse(ctx, a, a.problem)
	}
	for _, n := range a.built.Notices {
		if a.first || n.Level == project.Warning {
			w.out.once(n.String())
		}
	}
	w.built = a.built
	if a.reuse != nil && a.built.Digest == w.state.current().Digest {
		a.built.Remove()
		w.front.Switch(w.server.Target(*a.reuse))
		w.inspect(*a.reuse, a.built)
		w.front.Release()
		w.logs.follow(ctx, a.reuse.ID, a.began)
		w.tidier.serve(a.reuse.ID, a.reuse.ID)
		w.out.resumed(*w.state.current(), time.Since(a.began))
		return nil
	}
	if current := w.state.current(); !a.first && current != nil && current.Digest == a.built.Digest && maps.Equal(a.env, w.env) {
		a.built.Remove()
		w.unchanged(a)
		return nil
	}
	if w.onlyFiles(ctx, a) {
		return w.showFiles(ctx, a)
	}
	return w.replace(ctx, a, bundleFile{a.built.File, a.built.Digest})
}

// unchanged handles a save whose bundle is the one that serves.
func (w *worker) unchanged(a attempt) {
	if w.problem {
		w.problem = false
		w.front.Show(nil)
		w.out.line("%s  back to save %d, which serves", names(a.changed), w.state.current().N)
		return
	}
	if !a.silent {
		w.out.line("%s  nothing changed in the bundle", names(a.changed))
	}
}

// replace makes the version and switches to it. Requests wait meanwhile, so that what
// they write is in the data of the new version.
func (w *worker) replace(ctx context.Context, a attempt, b bundleFile) error {
	w.front.Hold()
	defer w.front.Release()
	w.drain(ctx)
	n := w.state.Last + 1
	v, err := w.deploy(ctx, order{project: w.project, parent: a.parent, file: b.path, digest: b.digest, env: a.env}, &n)
	w.state.Last = max(w.state.Last, n)
	if err != nil {
		_ = os.Remove(b.path) // at worst it stays
		w.tidier.discard(w.id(n))
		return w.refuse(ctx, a, err)
	}
	w.front.Switch(w.server.Target(v))
	w.front.Release()
	w.inspect(v, a.built)
	w.problem, w.env = false, a.env
	save := Save{N: n, Version: v.ID, Parent: a.parent, Digest: b.digest, At: time.Now(), Changed: a.changed}
	w.out.saved(save, a, prepared(v))
	w.logs.follow(ctx, v.ID, a.began)
	w.record(save)
	return nil
}

// drain waits for requests in flight. A debugger may hold one, so with one they have less time.
func (w *worker) drain(ctx context.Context) {
	began := time.Now()
	until := func(end time.Duration, drain func(context.Context) error) error {
		ctx, cancel := context.WithDeadline(ctx, began.Add(end))
		defer cancel()
		return drain(ctx)
	}
	if until(drainLimit, w.front.Drain) == nil {
		return
	}
	if w.inspector == nil && until(unansweredLimit, w.front.DrainUnanswered) == nil {
		return
	}
	if ctx.Err() == nil {
		w.out.line("a request takes longer than the switch waits: what it writes from now on stays with the save before")
	}
}

// record keeps a save and lets go of the oldest.
func (w *worker) record(save Save) {
	gone, err := w.state.add(save)
	for _, old := range gone {
		w.tidier.discard(old.data())
		for _, id := range []string{old.Version, old.data()} {
			if !w.state.names(id) {
				w.drop(id)
			}
		}
	}
	w.tidier.serve(save.data(), save.Version)
	if err != nil {
		w.out.note("%v", err)
	}
}

// refuse shows why a save is not served. The version before serves on.
func (w *worker) refuse(ctx context.Context, a attempt, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	p := problemOf(err, a.built)
	if w.problem && a.silent && *p == w.told {
		return nil
	}
	w.problem, w.told = true, *p
	w.front.Show(p)
	w.front.Release()
	w.out.problem(p, w.state.current(), w.serving())
	return nil
}

// serving reports whether a version serves.
func (w *worker) serving() bool { return w.tidier != nil && w.tidier.serving() }
