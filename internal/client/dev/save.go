package dev

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/client/build"
	"github.com/svcctl/svcctl/internal/client/project"
	"github.com/svcctl/svcctl/pkg/api"
)

// drainLimit is how long a switch waits for requests in flight. What a longer request
// writes after the switch is in the data of the version before only.
const drainLimit = 100 * time.Millisecond

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
func (s *Session) save(ctx context.Context, changed []string) error {
	known := s.known(changed)
	if len(known) == 0 && s.commandBuilds() {
		return nil // what the build command writes must not start it again
	}
	a := attempt{began: time.Now(), changed: known, silent: len(known) == 0}
	if len(known) == 0 {
		a.changed = s.shown(changed)
	}
	if current := s.state.current(); current != nil {
		a.parent = current.Version
	}
	a.built, a.env, a.problem = s.build(ctx)
	a.took = time.Since(a.began)
	return s.apply(ctx, a)
}

// known are the changed files that the last build has read, for people.
func (s *Session) known(changed []string) []string {
	if s.built == nil {
		return nil
	}
	var list []string
	for _, path := range changed {
		for _, watched := range s.built.Watch {
			if path == watched || strings.HasPrefix(path, watched+string(filepath.Separator)) {
				list = append(list, path)
				break
			}
		}
	}
	return s.shown(list)
}

func (s *Session) shown(paths []string) []string {
	list := make([]string, len(paths))
	for i, p := range paths {
		list[i] = relative(s.root, p)
	}
	return list
}

// commandBuilds reports whether the project has a build command. Then only files that
// are known to go in start a build.
func (s *Session) commandBuilds() bool {
	return s.built != nil && s.built.Config.Build.Command != "" && !s.problem
}

// apply makes a version of a build and switches to it. It returns an error only if
// watch mode cannot continue; all other failures are shown.
func (s *Session) apply(ctx context.Context, a attempt) error {
	if a.problem != nil {
		return s.refuse(ctx, a.problem, nil)
	}
	for _, n := range a.built.Notices {
		if a.first || n.Level == project.Warning {
			s.out.once(n.String())
		}
	}
	s.built = a.built
	if a.reuse != nil && a.built.Digest == s.state.current().Digest {
		a.built.Remove()
		s.front.Switch(s.server.Target(*a.reuse))
		s.front.Release()
		s.logs.follow(ctx, a.reuse.ID, a.began)
		s.tidier.serve(a.reuse.ID)
		s.out.resumed(*s.state.current(), time.Since(a.began))
		return nil
	}
	if current := s.state.current(); !a.first && current != nil && current.Digest == a.built.Digest && maps.Equal(a.env, s.env) {
		a.built.Remove()
		s.unchanged(a)
		return nil
	}
	return s.replace(ctx, a, bundleFile{a.built.File, a.built.Digest})
}

// unchanged handles a save whose bundle is the one that serves.
func (s *Session) unchanged(a attempt) {
	if s.problem {
		s.problem = false
		s.front.Show(nil)
		s.out.line("%s  back to save %d, which serves", names(a.changed), s.state.current().N)
		return
	}
	if !a.silent {
		s.out.line("%s  nothing changed in the bundle", names(a.changed))
	}
}

// replace makes the version and switches to it. Requests wait meanwhile, so that what
// they write is in the data of the new version.
func (s *Session) replace(ctx context.Context, a attempt, b bundleFile) error {
	s.front.Hold()
	defer s.front.Release()
	drain, cancel := context.WithTimeout(ctx, drainLimit)
	defer cancel()
	if err := s.front.Drain(drain); err != nil && ctx.Err() == nil {
		s.cfg.Logger.DebugContext(ctx, "requests outlast the switch", "error", err)
	}
	n := s.state.Last + 1
	v, err := s.deploy(ctx, order{project: s.project, parent: a.parent, file: b.path, digest: b.digest, env: a.env}, &n)
	s.state.Last = max(s.state.Last, n)
	if err != nil {
		_ = os.Remove(b.path) // at worst it stays
		s.tidier.discard(s.id(n))
		return s.refuse(ctx, err, a.built)
	}
	s.front.Switch(s.server.Target(v))
	s.problem, s.env = false, a.env
	save := Save{N: n, Version: v.ID, Parent: a.parent, Digest: b.digest, At: time.Now(), Changed: a.changed}
	s.out.saved(save, a, v)
	s.logs.follow(ctx, v.ID, a.began)
	return s.record(save, b.path)
}

// record keeps a save and its bundle, and lets go of the oldest.
func (s *Session) record(save Save, file string) error {
	if err := s.folder.keep(save.Version, file); err != nil {
		s.out.note("save %d cannot be gone back to: keeping its bundle failed: %v", save.N, err)
	}
	gone, err := s.state.add(save)
	for _, old := range gone {
		s.tidier.discard(old.Version)
		_ = os.Remove(s.folder.bundle(old.Version)) // at worst it stays
	}
	s.tidier.serve(save.Version)
	if err != nil {
		s.out.note("%v", err)
	}
	return nil
}

// refuse shows why a save is not served. The version before serves on.
func (s *Session) refuse(ctx context.Context, err error, b *build.Result) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s.problem = true
	p := problemOf(err, b)
	s.front.Show(p)
	s.front.Release()
	s.out.problem(p, s.state.current(), s.serving())
	return nil
}

// serving reports whether a version serves.
func (s *Session) serving() bool { return s.tidier != nil && s.tidier.serving() }
