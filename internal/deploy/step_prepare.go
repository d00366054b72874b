package deploy

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/svcctl/svcctl/internal/svc"
)

// prepare opens the runtime, which opens the version's data, scrubs it if it has
// to be, imports the seeds that it has not seen yet, and applies its migrations.
func (r *run) prepare(ctx context.Context) (string, error) {
	if r.v.ScrubID != "" && r.deps.ScrubSQL == "" { // it was set when the version was created
		return "", svc.Errorf(svc.Unprocessable, "scrub_missing", "the data of the parent has to be scrubbed, and there is no SQL for it").
			WithHint("set SVC_SCRUB_SQL and create a new version")
	}
	if err := r.open(ctx); err != nil {
		return "", err
	}
	done, err := r.deps.Runtimes.Prepare(ctx, r.v.Ref)
	if err != nil {
		return "", err
	}
	return done.detail(r.v.ScrubID != ""), nil
}

// maxSeedsNamed is how many files of seeds a timeline names: objects are many.
const maxSeedsNamed = 20

// detail says in words what was done.
func (p Prepared) detail(scrubbed bool) string {
	var parts []string
	if scrubbed {
		parts = append(parts, "scrubbed")
	}
	seeded, rest := p.seeds()
	switch n := len(seeded); {
	case n > maxSeedsNamed:
		parts = append(parts, fmt.Sprintf("seeded from %d files", n))
	case n > 0:
		parts = append(parts, "seeded "+strings.Join(seeded, ", "))
	}
	parts = append(parts, rest...)
	if n := len(p.Applied); n > 0 {
		parts = append(parts, fmt.Sprintf("applied %d migrations: %s", n, strings.Join(p.Applied, ", ")))
	} else {
		parts = append(parts, "no migrations to apply")
	}
	return strings.Join(parts, "; ")
}

// seeds tells the files that were imported from those that were not: these are
// named, however many there are of the others.
func (p Prepared) seeds() (imported, leftOut []string) {
	for _, s := range p.Seeded {
		if strings.Contains(s, " (left out: ") {
			leftOut = append(leftOut, s)
		} else {
			imported = append(imported, s)
		}
	}
	return imported, leftOut
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
		Ref: v.Ref, BundleDir: bundleDir, Env: v.Env, CreatedAt: v.CreatedAt, Tag: v.GitRef, Parent: v.BranchedFrom(),
		DataDir: d.data(v.Ref),
		LogDir:  filepath.Join(d.Logs, v.Project, v.Version),
	}
}

func (d Dirs) data(ref svc.Ref) string { return filepath.Join(d.Data, ref.Project, ref.Version) }
