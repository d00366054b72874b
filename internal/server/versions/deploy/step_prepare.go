package deploy

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/svc"
)

// prepare opens the runtime, which opens the version's data, scrubs it if
// required, imports new seeds, and applies migrations.
func (r *run) prepare(ctx context.Context) (string, error) {
	if r.beginsAsleep() {
		return "nothing to prepare: begins asleep", nil
	}
	if r.v.ScrubID != "" && r.deps.ScrubSQL == "" { // it was set when the version was created
		return "", svc.Errorf(svc.Unprocessable, svc.CodeScrubMissing, "the parent's data must be scrubbed, and SVC_SCRUB_SQL is not set").
			WithHint("set SVC_SCRUB_SQL and create a new version")
	}
	if err := r.open(ctx); err != nil {
		return "", err
	}
	done, err := r.deps.Runtimes.Prepare(ctx, r.v.Ref)
	if err != nil {
		return "", err
	}
	for _, text := range done.Warnings {
		if err := r.warnOnce(ctx, text); err != nil {
			return "", err
		}
	}
	m := svc.Migrated{Names: done.Applied, Took: done.Took}
	return describe(done, r.v.ScrubID != ""), r.deps.Versions.SetMigrated(ctx, r.v.Ref, m)
}

// maxSeedsNamed is the number of imported seed files up to which the timeline names
// them.
const maxSeedsNamed = 20

// describe returns p as text for the timeline.
func describe(p svc.Prepared, scrubbed bool) string {
	var parts []string
	if scrubbed {
		parts = append(parts, "scrubbed")
	}
	seeded, skipped := splitSeeds(p.Seeded)
	switch n := len(seeded); {
	case n > maxSeedsNamed:
		parts = append(parts, fmt.Sprintf("seeded from %d files", n))
	case n > 0:
		parts = append(parts, "seeded "+strings.Join(seeded, ", "))
	}
	parts = append(parts, skipped...)
	if n := len(p.Applied); n > 0 {
		parts = append(parts, fmt.Sprintf("applied %s: %s", migrations(n), strings.Join(p.Applied, ", ")))
	} else {
		parts = append(parts, "no migrations to apply")
	}
	return strings.Join(parts, "; ")
}

func migrations(n int) string {
	if n == 1 {
		return "1 migration"
	}
	return fmt.Sprintf("%d migrations", n)
}

// splitSeeds describes the imported and the skipped files. Skipped files are always
// named.
func splitSeeds(files []svc.SeedFile) (imported, skipped []string) {
	for _, f := range files {
		if f.Skipped != "" {
			skipped = append(skipped, f.String())
		} else {
			imported = append(imported, f.String())
		}
	}
	return imported, skipped
}

// open ensures that the runtime is open. Each step that needs it calls open, because
// a deploy can resume at any step.
func (r *run) open(ctx context.Context) error {
	spec, err := r.spec(ctx)
	if err != nil {
		return err
	}
	if err := r.deps.Runtimes.Open(ctx, spec); err != nil {
		return err
	}
	r.began.note(r.v.Ref, spec.Secrets)
	return nil
}

// spec describes the runtime, with the bundle unpacked.
func (r *run) spec(ctx context.Context) (spec svc.RuntimeSpec, err error) {
	if err := r.unpacked(ctx); err != nil {
		return spec, err
	}
	spec = r.deps.Dirs.spec(r.v, r.bundleDir)
	spec.ReadOnly = r.routes.isReadOnly(r.v.Project)
	spec.Local.FilesDir = r.routes.shownFiles(r.v.Ref)
	spec.Local.Warm = r.warm
	if spec.Secrets, err = r.openSecrets(ctx); err != nil {
		return spec, err
	}
	if r.v.ScrubID != "" {
		spec.Scrub = svc.Scrub{ID: r.v.ScrubID, SQL: r.deps.ScrubSQL}
	}
	if r.deps.Callees != nil {
		m, err := bundle.Load(r.bundleDir)
		if err != nil {
			return spec, err
		}
		if spec.ObjectKeys, err = r.deps.Callees.ObjectKeys(ctx, r.v.Ref, &m); err != nil {
			return spec, err
		}
	}
	return spec, nil
}

func (d Dirs) spec(v svc.Version, bundleDir string) svc.RuntimeSpec {
	return svc.RuntimeSpec{
		Ref: v.Ref, CreatedAt: v.CreatedAt, Tag: v.GitRef, Digest: v.Digest, Env: v.Env, Parent: v.ForkedFrom(),
		WakeAt: v.WakeAt, EventsOff: v.Events == svc.EventsOff, HandedOver: v.Events == svc.EventsHandedOver, Continues: v.ReleasedFrom != "", ObjectNamespace: v.ObjectNamespace,
		Local: svc.LocalSpec{BundleDir: bundleDir, DataDir: d.data(v.Ref), LogDir: filepath.Join(d.Logs, v.Project, v.Version)},
	}
}

func (d Dirs) data(ref svc.Ref) string { return filepath.Join(d.Data, ref.Project, ref.Version) }
