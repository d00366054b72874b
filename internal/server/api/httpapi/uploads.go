package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/server/api/httpapi/oas"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

const (
	uploadRoute = "/v1/uploads/{ticket}"
	uploadTime  = time.Hour // for one bundle over a slow connection
)

// putUpload answers PUT /uploads/{ticket} [D11]. It is not a generated handler,
// because it needs the length of the body and a longer time limit.
func (s *Server) putUpload(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength > s.MaxUpload {
		s.fail(w, r, s.errUploadTooLarge())
		return
	}
	receipt, err := s.Uploads.Accept(r.Context(), r.PathValue("ticket"), s.upload(w, r), r.ContentLength)
	s.uploaded(w, r, api.UploadReceipt{Digest: receipt.Digest, Size: receipt.Size}, err)
}

// putAssets answers PUT /uploads/{ticket}/assets, as putUpload does.
func (s *Server) putAssets(w http.ResponseWriter, r *http.Request) {
	receipt, err := s.Uploads.AcceptAssets(r.Context(), r.PathValue("ticket"), s.upload(w, r))
	s.uploaded(w, r, api.AssetsReceipt{Files: receipt.Files, SizeBytes: receipt.Bytes}, err)
}

// upload is the body of a request, limited to MaxUpload and uploadTime.
func (s *Server) upload(w http.ResponseWriter, r *http.Request) io.Reader {
	conn := http.NewResponseController(w)
	deadline := time.Now().Add(uploadTime)
	if err := errors.Join(conn.SetReadDeadline(deadline), conn.SetWriteDeadline(deadline)); err != nil {
		s.Logger.DebugContext(r.Context(), "cannot extend the deadlines of an upload; continuing with the server's", "error", err)
	}
	return http.MaxBytesReader(w, r.Body, s.MaxUpload)
}

// uploaded answers an upload with its receipt, or with err.
func (s *Server) uploaded(w http.ResponseWriter, r *http.Request, receipt any, err error) {
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok && tooLarge != nil {
		err = s.errUploadTooLarge()
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	if err := json.NewEncoder(w).Encode(receipt); err != nil {
		s.fail(w, r, err)
	}
}

// AnnounceAssets answers POST /uploads/{ticket}/assets.
func (h handlers) AnnounceAssets(ctx context.Context, r oas.AnnounceAssetsRequestObject) (oas.AnnounceAssetsResponseObject, error) {
	missing, err := h.Uploads.Announce(ctx, r.Ticket, each(r.Body.Files, func(f api.BundleFile) bundle.File {
		return bundle.File{Path: f.Path, SHA256: f.SHA256, Size: f.SizeBytes}
	}))
	if err != nil {
		return nil, err
	}
	return oas.AnnounceAssets200JSONResponse(api.MissingAssets{Missing: missing}), nil
}

func (s *Server) errUploadTooLarge() error {
	return svc.Errorf(svc.TooLarge, svc.CodeBundleTooLarge, "the bundle exceeds the limit of %d bytes", s.MaxUpload)
}
