package httpapi

import (
	"context"

	"github.com/svcctl/svcctl/internal/server/api/httpapi/oas"
	"github.com/svcctl/svcctl/internal/svc"
)

// ArchiveVersion answers POST .../archive [D18].
func (h handlers) ArchiveVersion(ctx context.Context, r oas.ArchiveVersionRequestObject) (oas.ArchiveVersionResponseObject, error) {
	v, err := h.Lifecycle.Archive(ctx, svc.Ref{Project: r.Project, Version: r.Version})
	if err != nil {
		return nil, err
	}
	return oas.ArchiveVersion200JSONResponse{VersionJSONResponse: h.versionNow(ctx, v)}, nil
}

// WakeVersion answers POST .../wake: 202 if the version does not serve yet [D17].
func (h handlers) WakeVersion(ctx context.Context, r oas.WakeVersionRequestObject) (oas.WakeVersionResponseObject, error) {
	v, err := h.Lifecycle.Wake(ctx, svc.Ref{Project: r.Project, Version: r.Version})
	if err != nil {
		return nil, err
	}
	now := h.versionNow(ctx, v)
	if v.Status.Serves() {
		return oas.WakeVersion200JSONResponse{VersionJSONResponse: now}, nil
	}
	return oas.WakeVersion202JSONResponse{Body: now.Body, Headers: oas.WakeVersion202ResponseHeaders{Location: now.Body.PollURL}}, nil
}

// DestroyVersion answers DELETE .../versions/{version} [D22].
func (h handlers) DestroyVersion(ctx context.Context, r oas.DestroyVersionRequestObject) (oas.DestroyVersionResponseObject, error) {
	v, err := h.Lifecycle.Destroy(ctx, svc.Ref{Project: r.Project, Version: r.Version})
	if err != nil {
		return nil, err
	}
	return oas.DestroyVersion200JSONResponse{VersionJSONResponse: h.versionNow(ctx, v)}, nil
}

// PinVersion answers POST .../pin [D18].
func (h handlers) PinVersion(ctx context.Context, r oas.PinVersionRequestObject) (oas.PinVersionResponseObject, error) {
	v, err := h.Lifecycle.SetPinned(ctx, svc.Ref{Project: r.Project, Version: r.Version}, true)
	if err != nil {
		return nil, err
	}
	return oas.PinVersion200JSONResponse{VersionJSONResponse: h.versionNow(ctx, v)}, nil
}

// UnpinVersion answers POST .../unpin [D18].
func (h handlers) UnpinVersion(ctx context.Context, r oas.UnpinVersionRequestObject) (oas.UnpinVersionResponseObject, error) {
	v, err := h.Lifecycle.SetPinned(ctx, svc.Ref{Project: r.Project, Version: r.Version}, false)
	if err != nil {
		return nil, err
	}
	return oas.UnpinVersion200JSONResponse{VersionJSONResponse: h.versionNow(ctx, v)}, nil
}

// versionNow returns the response of an operation that changed a version.
func (h handlers) versionNow(ctx context.Context, v svc.Version) oas.VersionJSONResponse {
	return oas.VersionJSONResponse{
		Body: h.versionOut(exchangeOf(ctx).origin, v), Headers: oas.VersionResponseHeaders{ETag: versionTag(v)},
	}
}
