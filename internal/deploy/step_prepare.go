package deploy

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/svcctl/svcctl/internal/svc"
)

// prepare opens the runtime, which opens the version's data, scrubs the data of
// a version that needs it, and applies its migrations.
func (r *run) prepare(ctx context.Context) (string, error) {
	if r.v.ScrubID != "" && r.deps.ScrubSQL == "" { // it was set when the version was created
		return "", svc.Errorf(svc.Unprocessable, "scrub_missing", "the data of the parent has to be scrubbed, and there is no SQL for it").
			WithHint("set SVC_SCRUB_SQL and create a new version")
	}
	if err := r.open(ctx); err != nil {
		return "", err
	}
	applied, err := r.deps.Runtimes.Prepare(ctx, r.v.Ref)
	if err != nil {
		return "", err
	}
	detail := "no migrations to apply"
	if len(applied) > 0 {
		detail = fmt.Sprintf("applied %d migrations: %s", len(applied), strings.Join(applied, ", "))
	}
	if r.v.ScrubID != "" {
		detail = "scrubbed; " + detail
	}
	return detail, nil
}

// open makes sure that the runtime is there, in whichever step a deploy is
// resumed.
func (r *run) open(ctx context.Context) error {
	if err := r.unpacked(ctx); err != nil {
		return err
	}
	spec := r.deps.Dirs.spec(r.v, r.bundleDir)
	spec.Warm = r.warm
	if r.v.ScrubID != "" {
		spec.Scrub = svc.Scrub{ID: r.v.ScrubID, SQL: r.deps.ScrubSQL}
	}
	return r.deps.Runtimes.Open(ctx, spec)
}

func (d Dirs) spec(v svc.Version, bundleDir string) RuntimeSpec {
	return RuntimeSpec{
		Ref: v.Ref, BundleDir: bundleDir, Env: v.Env, CreatedAt: v.CreatedAt, Tag: v.GitRef, Parent: branchedFrom(v),
		DataDir: d.data(v.Ref),
		LogDir:  filepath.Join(d.Logs, v.Project, v.Version),
	}
}

func (d Dirs) data(ref svc.Ref) string { return filepath.Join(d.Data, ref.Project, ref.Version) }

// branchedFrom is the parent whose data the version began with; "" for a root,
// and for one whose parent had none.
func branchedFrom(v svc.Version) string {
	if v.ForkTXID == "" {
		return ""
	}
	return v.ParentID
}
