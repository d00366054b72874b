package dataplane

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/replica"
)

// Ahead is where the pages of a version's databases were in the object store, at some moment. Safe for
// concurrent use.
type Ahead struct {
	mu      sync.Mutex
	sources map[string]*replica.Source // by database, until take
}

// ReadAhead reads it for the version c.Ref, which other processes may write. This process opens a child of
// that version soon, with the result as its Config.Ahead: for a parent of 10 GB these are 30 MB that the
// child need not read then.
func ReadAhead(ctx context.Context, c Config) (*Ahead, error) {
	s, err := c.stored(ctx)
	if err != nil {
		return nil, err
	}
	a := &Ahead{sources: map[string]*replica.Source{}}
	for _, name := range s.databases() {
		log, err := c.logOf(ctx, s, name)
		if err != nil {
			return nil, err
		}
		plan, err := log.Plan(log.Position())
		if err == nil {
			a.sources[name], err = log.Source(ctx, plan, nil)
		}
		if err != nil {
			return nil, err
		}
	}
	return a, nil
}

// take returns what was read of a database, once; nil for nothing, and of a nil Ahead.
func (a *Ahead) take(database string) *replica.Source {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.sources[database]
	delete(a.sources, database)
	return s
}

// databases are the names of all databases.
func (s stored) databases() []string {
	names := slices.Collect(maps.Keys(s.logs))
	if s.manifest != nil {
		names = slices.AppendSeq(names, maps.Keys(s.manifest.Databases))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// logOf opens the log of a database of c.Ref to read.
func (c Config) logOf(ctx context.Context, s stored, name string) (*replica.Log, error) {
	rc := replica.Config{
		Bucket: c.Bucket, Prefix: branch.DatabasePrefix(c.Ref, name), Keep: c.Branches.Keep(), Logger: c.Logger,
		Listing: append([]objstore.Info{}, s.logs[name]...), // not nil, which would ask for one
	}
	if s.manifest != nil {
		if base, ok := s.manifest.Databases[name]; ok {
			rc.Base = &base
		}
	}
	return replica.Open(ctx, rc)
}
