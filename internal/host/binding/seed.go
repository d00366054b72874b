package binding

import (
	"context"
	"io/fs"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/svc"
)

// Seeder is an Instance that seeds are imported into, in the step `preparing`,
// after a scrub and before migrations. Each file is imported once, whole or not at
// all, and leaves a mark in the data: what a parent had imported is not imported
// into a child. The data that a child has from its parent is unchanged. done are the
// files that were imported or skipped now; Set fills in their binding. files are
// those of the bundle, on disk.
type Seeder interface {
	Seed(ctx context.Context, s bundle.Seeds, files fs.FS) (done []svc.SeedFile, err error)
}

// Seed imports the seeds of m that were not imported before, and says which. It
// is idempotent. A binding that takes none is refused before anything is
// imported.
func (s *Set) Seed(ctx context.Context, m *bundle.Manifest, files fs.FS) (done []svc.SeedFile, err error) {
	seeders := make([]Seeder, len(m.Seeds))
	for i, list := range m.Seeds {
		if seeders[i], err = instanceFor[Seeder](s, list.Binding, "seeds", svc.CodeSeedsInvalid); err != nil {
			return nil, err
		}
	}
	for i, list := range m.Seeds {
		of, err := seeders[i].Seed(ctx, list, files)
		for _, f := range of {
			f.Binding = list.Binding
			done = append(done, f)
		}
		if err != nil {
			return done, err
		}
	}
	return done, nil
}
