package httpapi

import (
	"context"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/server/api/httpapi/oas"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// CompareVersions answers GET /projects/{project}/compare.
func (h handlers) CompareVersions(ctx context.Context, r oas.CompareVersionsRequestObject) (oas.CompareVersionsResponseObject, error) {
	from, err := h.compared(ctx, svc.Ref{Project: r.Project, Version: r.Params.From})
	if err != nil {
		return nil, err
	}
	to, err := h.compared(ctx, svc.Ref{Project: r.Project, Version: r.Params.To})
	if err != nil {
		return nil, err
	}
	out := oas.CompareVersions200JSONResponse{
		From: from.out(), To: to.out(), SameBundle: from.v.Digest != "" && from.v.Digest == to.v.Digest,
		Differences: each(bundle.Diff(from.manifest, to.manifest), differenceOut),
	}
	for _, c := range svc.DiffEnv(from.env, to.env) {
		d := api.Difference{What: api.DifferenceWhatVar, Name: c.Key, Change: change(c.Before != "", c.After != "")}
		d.Before, d.After = string(c.Before), string(c.After)
		out.Differences = append(out.Differences, d)
	}
	return out, nil
}

// comparedVersion is one side of a comparison.
type comparedVersion struct {
	v        svc.Version
	manifest bundle.Manifest
	env      svc.Environment
}

func (h handlers) compared(ctx context.Context, ref svc.Ref) (c comparedVersion, err error) {
	if c.v, err = h.Versions.Version(ctx, ref); err != nil {
		return c, err
	}
	if c.manifest, err = h.Bundles.Manifest(ctx, ref); err != nil {
		return c, err
	}
	c.env, err = h.Environments.Environment(ctx, ref)
	return c, err
}

func (c comparedVersion) out() api.ComparedVersion {
	out := api.ComparedVersion{VersionID: c.v.Version, ArtifactDigest: c.v.Digest, BundleBytes: c.v.SizeBytes}
	for _, f := range c.manifest.Files() {
		out.Files++
		out.FileBytes += f.Size
	}
	return out
}

func differenceOut(d bundle.Difference) api.Difference {
	out := api.Difference{What: api.DifferenceWhat(d.What), Name: d.Name, Change: change(d.Before != nil, d.After != nil)}
	if d.Before != nil {
		out.Before, out.BeforeBytes = d.Before.Text, d.Before.Bytes
	}
	if d.After != nil {
		out.After, out.AfterBytes = d.After.Text, d.After.Bytes
	}
	return out
}

// change says how two sides differ, by which of them have the thing.
func change(before, after bool) api.DifferenceChange {
	switch {
	case !before:
		return api.DifferenceChangeAdded
	case !after:
		return api.DifferenceChangeRemoved
	}
	return api.DifferenceChangeChanged
}
