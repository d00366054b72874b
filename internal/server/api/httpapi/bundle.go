package httpapi

import (
	"context"
	"maps"
	"slices"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/server/api/httpapi/oas"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// Bundles reads the bundles of versions.
type Bundles interface {
	// Manifest returns Gone for a destroyed version, and NotFound, artifact_missing, if
	// the bundle has not arrived.
	Manifest(ctx context.Context, ref svc.Ref) (bundle.Manifest, error)
}

// GetBundle answers GET .../bundle. It leaves out the values of variables and the
// configuration of bindings, which may hold credentials.
func (h handlers) GetBundle(ctx context.Context, r oas.GetBundleRequestObject) (oas.GetBundleResponseObject, error) {
	ref := svc.Ref{Project: r.Project, Version: r.Version}
	v, err := h.Versions.Version(ctx, ref)
	if err != nil {
		return nil, err
	}
	m, err := h.Bundles.Manifest(ctx, ref)
	if err != nil {
		return nil, err
	}
	out := api.Bundle{
		VersionID: v.Version, ArtifactDigest: v.Digest, SizeBytes: v.SizeBytes, Format: m.SchemaVersion, Main: m.Main,
		CompatibilityDate: m.CompatibilityDate, CompatibilityFlags: each(m.CompatibilityFlags, same), Crons: each(m.Crons, same),
		Modules: each(m.Modules, moduleOut),
		Bindings: each(m.Bindings, func(b bundle.Binding) api.BundleBinding {
			return api.BundleBinding{Name: b.Name, Kind: b.Kind, Resource: b.Resource}
		}),
		Vars: slices.AppendSeq([]string{}, slices.Values(slices.Sorted(maps.Keys(m.Vars)))),
		QueueConsumers: each(m.QueueConsumers, func(q bundle.QueueConsumer) string {
			return q.Queue
		}),
		ObjectClasses: []string{}, Migrations: []api.BundleFile{}, Seeds: []api.BundleFile{}, Assets: []api.BundleFile{},
	}
	for _, c := range m.ObjectClasses {
		if !c.Deleted {
			out.ObjectClasses = append(out.ObjectClasses, c.Name)
		}
	}
	for _, g := range m.Migrations {
		out.Migrations = append(out.Migrations, each(g.Files, fileOut)...)
	}
	for _, g := range m.Seeds {
		out.Seeds = append(out.Seeds, each(g.Files, fileOut)...)
	}
	if m.Assets != nil {
		out.Assets = each(m.Assets.Files, fileOut)
	}
	return oas.GetBundle200JSONResponse(out), nil
}

func moduleOut(m bundle.Module) api.BundleModule {
	return api.BundleModule{Name: m.Name, Type: string(m.Type), SHA256: m.SHA256, SizeBytes: m.Size}
}

func fileOut(f bundle.File) api.BundleFile {
	return api.BundleFile{Path: f.Path, SHA256: f.SHA256, SizeBytes: f.Size}
}
