package fork

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/svc"
)

// Versions reads versions from the registry.
type Versions interface {
	Version(ctx context.Context, ref svc.Ref) (svc.Version, error)
}

// Runtimes runs the worker hosts.
type Runtimes interface {
	// Cut returns a cut from the runtime of a version. Errors: Conflict or Unavailable
	// with the codes runtime_not_open, runtime_open, runtime_stopping or
	// runtime_unavailable for a runtime that does not run now.
	Cut(ctx context.Context, ref svc.Ref) (branch.VersionCut, error)
	// Archive ships the cached data of a version without a runtime. Then it calls
	// after, before another process can open the data.
	Archive(ctx context.Context, spec svc.RuntimeSpec, after func() error) error
}

// Records reads and changes the records of versions in the object store: branch.Store.
type Records interface {
	// Load returns nil without an error for a version that was not forked.
	Load(ctx context.Context, v svc.Ref) (*branch.Manifest, error)
	Fork(ctx context.Context, f branch.Fork) (*branch.Manifest, error)
	Destroy(ctx context.Context, v svc.Ref) error
	Grace() time.Duration
}

// Observer counts, for metrics. Its method does not block.
type Observer interface {
	BranchDone(took time.Duration) // a fork was made
}

// Dirs are directories with one directory per version, {project}/{version}.
type Dirs struct {
	Data string // the cached data
	Logs string
}

// Deps are the dependencies of a Service.
type Deps struct {
	Versions Versions
	Runtimes Runtimes
	Records  Records
	// CutStored cuts a version that no process has open, in the object store.
	CutStored func(ctx context.Context, ref svc.Ref) (map[string]branch.Cut, error)
	// CutPast cuts a version at the newest point of its past at or before a time, in the object store. Nil:
	// no history is kept.
	CutPast func(ctx context.Context, ref svc.Ref, t time.Time) (databases map[string]branch.Cut, at time.Time, err error)
	// Awake returns when the runtime of a version that sleeps serves. Nil: none sleeps.
	Awake    func(ctx context.Context, ref svc.Ref) error
	Observer Observer
	Dirs     Dirs
}

// Service forks, archives and destroys the data of versions.
type Service struct{ deps Deps }

// New returns a Service, or an error if a dependency is missing. It starts nothing.
func New(deps Deps) (*Service, error) {
	switch {
	case deps.Versions == nil, deps.Runtimes == nil, deps.Records == nil, deps.CutStored == nil, deps.Observer == nil:
		return nil, errors.New("fork: registry, runtimes, records, CutStored and observer required")
	case deps.Dirs.Data == "" || deps.Dirs.Logs == "":
		return nil, errors.New("fork: data and log directories required")
	}
	if deps.Awake == nil {
		deps.Awake = func(context.Context, svc.Ref) error { return nil }
	}
	return &Service{deps}, nil
}

// dir returns the directory of a version's cached data.
func (d Dirs) dir(ref svc.Ref) string { return filepath.Join(d.Data, ref.Project, ref.Version) }
