package promote

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/svcctl/svcctl/internal/svc"
)

// maxGenerations bounds the search for migrations among the parents of a version.
const maxGenerations = 100

// schemaMoved returns an error if production's data has migrations that earlier does not know and
// that do not say that earlier code works with them.
func (s *Service) schemaMoved(ctx context.Context, production, earlier svc.Ref) error {
	now, err := s.migrations(ctx, production)
	if err != nil {
		return err
	}
	known, err := s.migrations(ctx, earlier)
	if err != nil {
		return err
	}
	maps.DeleteFunc(now, func(name string, compatible bool) bool {
		_, knows := known[name]
		return knows || compatible
	})
	if len(now) == 0 {
		return nil
	}
	return svc.Errorf(svc.Conflict, svc.CodeSchemaMoved, "migrations were applied since %s ran: %s",
		earlier.Version, strings.Join(slices.Sorted(maps.Keys(now)), ", ")).
		WithHint("go back with the data of then (svcctl rollback --restore-data), or force the earlier code onto today's data (--keep-data --force)")
}

// migrations returns those in the bundle of a version, and those that its parents applied.
func (s *Service) migrations(ctx context.Context, ref svc.Ref) (compatible map[string]bool, err error) {
	if compatible, err = s.deps.Deploys.Migrations(ctx, ref); err != nil {
		return nil, err
	}
	for range maxGenerations {
		v, err := s.deps.Versions.Version(ctx, ref)
		if errors.Is(err, svc.NotFound) {
			break
		}
		if err != nil {
			return nil, err
		}
		for _, name := range v.Migrated.Names {
			if _, known := compatible[name]; !known {
				compatible[name] = false
			}
		}
		if ref.Version = v.ForkedFrom(); ref.Version == "" {
			break
		}
	}
	return compatible, nil
}
