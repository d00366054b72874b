package httpapi

import (
	"cmp"
	"context"

	"github.com/svcctl/svcctl/internal/server/api/httpapi/oas"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// ListLeases answers GET /server/leases.
func (h handlers) ListLeases(ctx context.Context, r oas.ListLeasesRequestObject) (oas.ListLeasesResponseObject, error) {
	scope := scopeOf("leases", r.Params.Project)
	at, err := pageOf(scope, r.Params.Limit, r.Params.Cursor)
	if err != nil {
		return nil, err
	}
	page, err := h.Overview.SearchVersions(ctx, svc.VersionFilter{Project: r.Params.Project}, at)
	if err != nil {
		return nil, err
	}
	owners, err := h.Leases.Owners(ctx, each(page.Items, func(v svc.Version) svc.Ref { return v.Ref }))
	if err != nil {
		return nil, err
	}
	nodes, ttl, err := h.Leases.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	out := oas.ListLeases200JSONResponse{
		Nodes: each(nodes, nodeOut), LeaseTTLSeconds: ttl.Seconds(), Items: []api.DataOwner{}, NextCursor: newCursor(scope, page.Next),
	}
	for i, v := range page.Items {
		out.Items = append(out.Items, ownerOut(v, owners[i]))
	}
	return out, nil
}

func nodeOut(n svc.NodeLease) api.NodeLease {
	out := api.NodeLease{Node: n.Owner.Node, Session: n.Owner.Session, ThisServer: n.Here, Released: n.Released}
	if !n.Renewed.IsZero() {
		out.RenewedAt = api.At(n.Renewed)
	}
	return out
}

func ownerOut(v svc.Version, o svc.DataOwner) api.DataOwner {
	out := api.DataOwner{
		ProjectID: v.Project, VersionID: v.Version, Status: string(v.Status), Data: api.DataOwnerData(cmp.Or(o.State, "none")),
		Node: o.Owner.Node, Session: o.Owner.Session, ThisServer: o.Here, Epoch: int64(o.Epoch), TakenOver: o.TakenOver, //nolint:gosec // a count
	}
	if !o.Changed.IsZero() {
		out.ChangedAt = api.At(o.Changed)
	}
	return out
}
