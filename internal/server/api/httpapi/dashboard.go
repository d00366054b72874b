package httpapi

import (
	"context"

	"github.com/svcctl/svcctl/internal/server/api/httpapi/oas"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// CreateDashboardTicket answers POST /dashboard/tickets.
func (h handlers) CreateDashboardTicket(ctx context.Context, _ oas.CreateDashboardTicketRequestObject) (oas.CreateDashboardTicketResponseObject, error) {
	if h.Pages == nil {
		return nil, errNoPath()
	}
	x := exchangeOf(ctx)
	path, expiry := h.Pages.Ticket(svc.Secret(x.token))
	return oas.CreateDashboardTicket201JSONResponse{URL: x.origin + path, ExpiresAt: api.At(expiry)}, nil
}
