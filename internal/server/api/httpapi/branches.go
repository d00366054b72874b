package httpapi

import (
	"context"

	"github.com/svcctl/svcctl/internal/server/api/httpapi/oas"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// ListBranches answers GET /projects/{project}/branches.
func (h handlers) ListBranches(ctx context.Context, r oas.ListBranchesRequestObject) (oas.ListBranchesResponseObject, error) {
	versions, err := h.Overview.Tree(ctx, r.Project)
	if err != nil {
		return nil, err
	}
	sizes, err := h.GC.BranchSizes(ctx, r.Project)
	if err != nil {
		return nil, err
	}
	tree := svc.Branches(versions, func(id string) bool { return sizes.Versions[id].Kept.Objects > 0 })
	return oas.ListBranches200JSONResponse{
		MeasuredAt: api.MaybeAt(sizes.MeasuredAt), Incomplete: sizes.Incomplete,
		Items: each(tree, func(b svc.Branch) api.Branch { return branchOut(b, sizes) }),
	}, nil
}

func branchOut(b svc.Branch, sizes svc.BranchSizes) api.Branch {
	v := b.Version
	out := api.Branch{
		VersionID: v.Version, Depth: b.Depth, Children: b.Children, Status: api.VersionStatus(v.Status), IsProduction: v.Production,
		Pinned: v.Pinned, GitRef: v.GitRef, PreviewName: v.PreviewName, ForkTXID: v.ForkTXID, CreatedAt: api.At(v.CreatedAt),
	}
	if v.ParentID != "" {
		out.ParentVersionID = &v.ParentID
	}
	if size, ok := sizes.Versions[v.Version]; ok {
		out.Sizes = &api.BranchSizes{
			Own: amountOut(size.Own), Exclusive: amountOut(size.Exclusive), Shared: amountOut(size.Shared), Kept: amountOut(size.Kept),
		}
	}
	return out
}
