package dataplane

import (
	"context"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/svcctl/svcctl/internal/data/volume"
)

// isOwn reports whether a database belongs to its version alone. Only the cut of a release has it:
// the manifest of a released version names own databases, but its children begin without them.
func isOwn(name string) bool { return strings.HasPrefix(name, volume.OwnPrefix) }

// shared returns what of databases a child begins with.
func shared[V any](databases map[string]V) map[string]V {
	databases = maps.Clone(databases)
	maps.DeleteFunc(databases, func(name string, _ V) bool { return isOwn(name) })
	return databases
}

// OpenOwn opens the databases that belong to the version alone, so that a whole cut has them. A
// binding opens its database only when it needs it, and no binding may need what a release has
// inherited. The first call lists the object store; later ones send no request, because what is
// created afterwards is open.
func (v *Volumes) OpenOwn(ctx context.Context) error {
	names, err := v.ownNames(ctx)
	if err != nil {
		return err
	}
	opening, ctx := errgroup.WithContext(ctx)
	for _, name := range names {
		opening.Go(func() error {
			_, err := v.database(ctx, name)
			return err
		})
	}
	return opening.Wait()
}

// ownNames lists the own databases that existed at the first call.
func (v *Volumes) ownNames(ctx context.Context) ([]string, error) {
	if names := v.own.Load(); names != nil {
		return *names, nil
	}
	names, err := v.known(ctx)
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !isOwn(name) })
	v.own.Store(&names)
	return names, nil
}

// known lists the databases that the version has written or inherited.
func (v *Volumes) known(ctx context.Context) ([]string, error) {
	if err := v.claim(ctx); err != nil {
		return nil, err
	}
	names, err := v.written(ctx)
	if err != nil {
		return nil, err
	}
	if v.manifest != nil {
		names = slices.AppendSeq(names, maps.Keys(v.manifest.Databases))
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// Exists implements volume.Volumes.
func (v *Volumes) Exists(ctx context.Context, name string) (bool, error) {
	if slices.ContainsFunc(*v.open.Load(), func(db *database) bool { return db.name == name }) {
		return true, nil
	}
	names, err := v.known(ctx)
	return slices.Contains(names, name), unavailableOr(ctx, err)
}

// unavailableOr is unavailable, or nil for no error.
func unavailableOr(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	return unavailable(ctx, err)
}
