package httpapi

import (
	"context"

	"github.com/svcctl/svcctl/internal/server/api/httpapi/oas"
)

// ListPreviews answers GET /projects/{project}/previews.
func (h handlers) ListPreviews(ctx context.Context, r oas.ListPreviewsRequestObject) (oas.ListPreviewsResponseObject, error) {
	scope := scopeOf("previews", r.Project)
	at, err := pageOf(scope, r.Params.Limit, r.Params.Cursor)
	if err != nil {
		return nil, err
	}
	page, err := h.Previews.ListPreviews(ctx, r.Project, at)
	if err != nil {
		return nil, err
	}
	return oas.ListPreviews200JSONResponse{Items: each(page.Items, h.previewOut), NextCursor: newCursor(scope, page.Next)}, nil
}

// GetPreview answers GET /projects/{project}/previews/{preview}.
func (h handlers) GetPreview(ctx context.Context, r oas.GetPreviewRequestObject) (oas.GetPreviewResponseObject, error) {
	p, err := h.Previews.Preview(ctx, r.Project, r.Preview)
	if err != nil {
		return nil, err
	}
	return oas.GetPreview200JSONResponse(h.previewOut(p)), nil
}

// DeletePreview answers DELETE /projects/{project}/previews/{preview}.
func (h handlers) DeletePreview(ctx context.Context, r oas.DeletePreviewRequestObject) (oas.DeletePreviewResponseObject, error) {
	p, err := h.Previews.Delete(ctx, r.Project, r.Preview)
	if err != nil {
		return nil, err
	}
	return oas.DeletePreview200JSONResponse(h.previewOut(p)), nil
}
