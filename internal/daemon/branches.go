package daemon

import (
	"context"
	"os"
	"path/filepath"

	"github.com/svcctl/svcctl/internal/deploy"
	"github.com/svcctl/svcctl/internal/svc"
)

// branches is the versions' data as deploy wants it.
type branches struct{ dir string }

func (branches) Fork(context.Context, svc.Ref, svc.Ref, string) (deploy.Forked, error) {
	return deploy.Forked{}, svc.Errorf(svc.Unavailable, "branching_unavailable", "branching is not wired")
}

func (b branches) Discard(_ context.Context, ref svc.Ref) error {
	return os.RemoveAll(filepath.Join(b.dir, ref.Project, ref.Version))
}
