package binding

import (
	"context"
	"io/fs"
	"slices"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/svc"
)

// Seeder is an Instance that seeds are imported into, in the step `preparing`,
// after a scrub and before migrations. Each file is imported once, whole or not at
// all, and leaves a mark in the data: what a parent had imported is not imported
// into a child. What a child has of its parent's data stays as it is. imported are
// the paths of the files that were imported now, and behind the path of one that
// was left out, why. files are those of the bundle, on disk.
type Seeder interface {
	Seed(ctx context.Context, s bundle.Seeds, files fs.FS) (imported []string, err error)
}

// Seed imports the seeds of m that were not imported before, and says which, as
// "<binding> from <path>". It is idempotent. A binding that takes none is
// refused before anything is imported.
func (s *Set) Seed(ctx context.Context, m *bundle.Manifest, files fs.FS) (imported []string, err error) {
	seeders := make([]Seeder, len(m.Seeds))
	for i, list := range m.Seeds {
		if seeders[i], err = s.seeder(list.Binding); err != nil {
			return nil, err
		}
	}
	for i, list := range m.Seeds {
		done, err := seeders[i].Seed(ctx, list, files)
		for _, path := range done {
			imported = append(imported, list.Binding+" from "+path)
		}
		if err != nil {
			return imported, err
		}
	}
	return imported, nil
}

func (s *Set) seeder(name string) (Seeder, error) {
	i := slices.IndexFunc(s.bindings, func(b declared) bool { return b.Name == name })
	if i < 0 {
		return nil, svc.Errorf(svc.Unprocessable, "seeds_invalid", "seeds are given for binding %q, which the bundle does not declare", name)
	}
	b := s.bindings[i]
	seeder, ok := s.instances[Route(b.Binding)].(Seeder)
	if !ok {
		return nil, svc.Errorf(svc.Unprocessable, "seeds_invalid", "seeds are given for binding %q, whose kind %q takes none", name, b.Kind)
	}
	return seeder, nil
}
