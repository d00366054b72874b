package httpapi

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"

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
	conn := http.NewResponseController(w)
	deadline := time.Now().Add(uploadTime)
	if err := errors.Join(conn.SetReadDeadline(deadline), conn.SetWriteDeadline(deadline)); err != nil {
		s.Logger.DebugContext(r.Context(), "cannot extend the deadlines of an upload; continuing with the server's", "error", err)
	}
	body := http.MaxBytesReader(w, r.Body, s.MaxUpload)
	receipt, err := s.Uploads.Accept(r.Context(), r.PathValue("ticket"), body, r.ContentLength)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		s.fail(w, r, s.errUploadTooLarge())
		return
	case err != nil:
		s.fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	if err := json.NewEncoder(w).Encode(api.UploadReceipt{Digest: receipt.Digest, Size: receipt.Size}); err != nil {
		s.fail(w, r, err)
	}
}

func (s *Server) errUploadTooLarge() error {
	return svc.Errorf(svc.TooLarge, svc.CodeBundleTooLarge, "the bundle exceeds the limit of %d bytes", s.MaxUpload)
}
