package hostmain

import (
	"context"
	"io/fs"

	"github.com/svcctl/svcctl/internal/bundle"
)

// Migrate applies the migrations, the last step that prepares the data, and
// returns when all of it is in the object store. A version is prepared once: what
// a power failure took with it would not be done again, and a scrub, least of all,
// must not be undone.
func (r resources) Migrate(ctx context.Context, m *bundle.Manifest, files fs.FS) (applied []string, err error) {
	if applied, err = r.Set.Migrate(ctx, m, files); err != nil {
		return applied, err
	}
	return applied, r.volumes.Ship(ctx)
}
