package deploy

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/svcctl/svcctl/internal/svc"
)

// prepare opens the runtime, which opens the version's data, and applies its
// migrations.
func (r *run) prepare(ctx context.Context) (string, error) {
	if err := r.open(ctx); err != nil {
		return "", err
	}
	applied, err := r.deps.Runtimes.Prepare(ctx, r.v.Ref)
	if err != nil {
		return "", err
	}
	if len(applied) == 0 {
		return "no migrations to apply", nil
	}
	return fmt.Sprintf("applied %d migrations: %s", len(applied), strings.Join(applied, ", ")), nil
}

// open makes sure that the runtime is there, in whichever step a deploy is
// resumed.
func (r *run) open(ctx context.Context) error {
	if err := r.unpacked(ctx); err != nil {
		return err
	}
	return r.deps.Runtimes.Open(ctx, r.deps.Dirs.spec(r.v, r.bundleDir))
}

func (d Dirs) spec(v svc.Version, bundleDir string) RuntimeSpec {
	return RuntimeSpec{
		Ref: v.Ref, BundleDir: bundleDir, Env: v.Env, CreatedAt: v.CreatedAt, Tag: v.GitRef,
		DataDir: d.data(v.Ref),
		LogDir:  filepath.Join(d.Logs, v.Project, v.Version),
	}
}

func (d Dirs) data(ref svc.Ref) string { return filepath.Join(d.Data, ref.Project, ref.Version) }
