package cli

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/build"
	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/lib/text"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// dryOptions are a deploy that creates nothing.
type dryOptions struct {
	on       bool
	outdir   string
	together []string // projects of the workers that one command deploys
}

func (o *dryOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&o.on, "dry-run", false, "build and check everything, show what would be created, and create nothing")
	f.StringVar(&o.outdir, "outdir", "", "directory to write the built modules to")
}

// planned is what a deploy would create.
type planned struct {
	DryRun             bool              `json:"dry_run"` // true
	ProjectID          string            `json:"project_id"`
	CreatesProject     bool              `json:"creates_project"`
	VersionID          string            `json:"version_id,omitempty"` // absent if the server would generate it
	VersionExists      bool              `json:"version_exists"`       // by an earlier deploy of the same bundle
	PreviewName        string            `json:"preview_name,omitempty"`
	ParentVersionID    string            `json:"parent_version_id,omitempty"`
	ParentStatus       string            `json:"parent_status,omitempty"`
	ParentAt           api.Time          `json:"parent_at,omitzero"` // a moment of its past
	GitRef             string            `json:"git_ref"`
	GitSHA             string            `json:"git_sha"`
	Labels             map[string]string `json:"labels"`
	Env                map[string]string `json:"env"` // of this deploy, values hidden
	ArtifactDigest     string            `json:"artifact_digest"`
	SizeBytes          int64             `json:"size_bytes"`     // as uploaded
	UnpackedBytes      int64             `json:"unpacked_bytes"` // static files included
	Modules            int               `json:"modules"`
	Assets             int               `json:"assets"`
	Runs               []string          `json:"runs"` // as svcctl check says it
	CompatibilityDate  string            `json:"compatibility_date"`
	CompatibilityFlags []string          `json:"compatibility_flags"`
	Promote            bool              `json:"promote"`
	Release            bool              `json:"release"`   // on the data of production
	Unchecked          []string          `json:"unchecked"` // what the token may not read
}

// plan checks what the server would check, and prints what a deploy would create.
func (d deployment) plan(ctx context.Context, progress *kit.Progress, built *build.Result, req api.CreateVersion) error {
	progress.Stage("checking")
	p := d.planOf(built, req)
	check := dryRun{deployment: d, built: built, req: req, p: &p}
	if err := check.all(ctx); err != nil {
		return kit.InFlags(err, deployFlags())
	}
	progress.Done("")
	d.j.endGroup()
	return d.k.Print(p, func() { d.printPlan(p) })
}

// planOf is what the command line, the project file and the bundle say.
func (d deployment) planOf(built *build.Result, req api.CreateVersion) planned {
	m := built.Manifest
	p := planned{
		DryRun: true, ProjectID: built.Project, VersionID: req.ID, PreviewName: req.PreviewName, ParentVersionID: parentID(req), ParentAt: req.ParentAt,
		GitRef: cmp.Or(req.GitRef, d.j.report.Source.Ref), GitSHA: req.GitSHA, Labels: req.Labels, Env: svc.HiddenEnv(req.Env),
		ArtifactDigest: built.Digest, SizeBytes: built.Size, Modules: len(m.Modules), Runs: running(built.Config),
		CompatibilityDate: m.CompatibilityDate, CompatibilityFlags: append([]string{}, m.CompatibilityFlags...),
		Promote: d.o.promote && !d.o.release, Release: d.o.release, Unchecked: []string{},
	}
	if m.Assets != nil {
		p.Assets = len(m.Assets.Files)
	}
	for _, f := range m.Files() {
		p.UnpackedBytes += f.Size
	}
	return p
}

func (d deployment) printPlan(p planned) {
	k := d.k
	row := func(name, value string) {
		if value != "" {
			k.Printf("  %-10s %s", name, kit.Clean(value))
		}
	}
	k.Printf("would create %s/%s", p.ProjectID, cmp.Or(p.VersionID, "(generated id)"))
	if p.CreatesProject {
		row("project", "new")
	}
	if p.VersionExists {
		row("exists", "with the same bundle; the server compares parent and variables")
	}
	row("preview", p.PreviewName)
	row("parent", strings.TrimSuffix(p.ParentVersionID+" "+p.ParentStatus, " "))
	if !p.ParentAt.IsZero() {
		row("at", p.ParentAt.UTC().Format(time.RFC3339))
	}
	row("source", strings.TrimSpace(p.GitRef+" "+p.GitSHA))
	row("labels", pairsOf(p.Labels))
	row("variables", strings.Join(slices.Sorted(maps.Keys(p.Env)), ", "))
	row("runs", strings.Join(p.Runs, ", "))
	row("compatible", strings.TrimSpace(p.CompatibilityDate+" "+strings.Join(p.CompatibilityFlags, ",")))
	k.Printf("  %-10s %s to upload, %s unpacked: %s, %s", "bundle", text.Bytes(p.SizeBytes), text.Bytes(p.UnpackedBytes), count(int64(p.Modules), "module"), count(int64(p.Assets), "static file"))
	row("digest", p.ArtifactDigest)
	if p.Promote {
		row("promote", "when it is ready")
	}
	if p.Release {
		row("release", "on the data of production, when its candidate is ready")
	}
	k.Notef("nothing was created (--dry-run)")
}

func pairsOf(m map[string]string) string {
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(m)) {
		pairs = append(pairs, name+"="+m[name])
	}
	return strings.Join(pairs, ", ")
}
