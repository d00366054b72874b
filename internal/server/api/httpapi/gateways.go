package httpapi

import (
	"context"

	"github.com/svcctl/svcctl/internal/server/api/httpapi/oas"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// ListGateways answers GET /gateways.
func (h handlers) ListGateways(context.Context, oas.ListGatewaysRequestObject) (oas.ListGatewaysResponseObject, error) {
	return oas.ListGateways200JSONResponse{Items: each(h.Gateways.Gateways(), gatewayOut)}, nil
}

func gatewayOut(g svc.Gateway) api.Gateway {
	return api.Gateway{
		Name: g.Name, Own: g.Own, Address: g.Address, Listens: g.Listens, Version: g.Version, Connected: g.Connected,
		ConnectedAt: api.MaybeAt(g.ConnectedAt), ReportedAt: api.MaybeAt(g.ReportedAt),
		Generation: int64(g.Generation), Behind: int64(g.Behind), Requests: int64(g.Requests), //nolint:gosec // far below the limit
		Inflight: int64(g.Inflight), Websockets: int64(g.Websockets),
	}
}
