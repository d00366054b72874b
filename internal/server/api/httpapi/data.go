package httpapi

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/svcctl/svcctl/internal/svc"
)

const (
	maxDataLimit = 1000     // of a page of rows, keys or objects [D33]
	maxDataBody  = 32 << 20 // bytes, more than a value may have
	maxImport    = 5 << 30  // bytes of a file that is imported, or of an object
)

// data forwards a request to the runtime of its version, which alone has the
// version's data [D32]-[D35]. There is no generated handler: the response of the
// runtime passes through.
func (s *Server) data(w http.ResponseWriter, r *http.Request) {
	ref := svc.Ref{Project: r.PathValue("project"), Version: r.PathValue("version")}
	v, err := s.Versions.Version(r.Context(), ref)
	if err == nil {
		err = hasData(v)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	inner, err := dataRequest(w, r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	resp, err := s.Data.Data(ref, inner)
	if err != nil {
		if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
			err = errTooLarge(tooLarge.Limit)
		}
		s.fail(w, r, err)
		return
	}
	defer resp.Body.Close()
	w.Header().Set("X-Content-Type-Options", "nosniff") // objects have arbitrary content types
	for _, name := range []string{"Content-Type", "Content-Length", "Svc-Kv-Metadata", "Svc-Kv-Expiration", "Svc-Object-Metadata"} {
		if values := resp.Header[name]; len(values) > 0 {
			w.Header()[name] = values
		}
	}
	w.WriteHeader(resp.StatusCode)
	if _, err := io.Copy(w, resp.Body); err != nil {
		s.fail(w, r, err)
	}
}

func errTooLarge(limit int64) error {
	return svc.Errorf(svc.TooLarge, svc.CodeBodyTooLarge, "the body exceeds the limit of %d bytes", limit)
}

// dataRequest returns r for the runtime: its path is relative to the version's and
// keeps the encoding, because a key may hold any byte.
func dataRequest(w http.ResponseWriter, r *http.Request) (*http.Request, error) {
	const above = 6 // "", v1, projects, its id, versions, its id
	path := "/" + strings.Join(strings.Split(r.URL.EscapedPath(), "/")[above:], "/")
	u, err := url.ParseRequestURI(path)
	if err != nil { // the server has parsed it
		return nil, fmt.Errorf("parsing the path of a data request: %w", err)
	}
	u.RawQuery = r.URL.RawQuery
	inner := &http.Request{Method: r.Method, URL: u, Header: http.Header{}, ContentLength: r.ContentLength}
	limit := int64(maxDataBody)
	object := strings.HasPrefix(path, "/objects/")
	if path == "/database/import" || object {
		limit = maxImport
	}
	if r.ContentLength > limit {
		return nil, errTooLarge(limit)
	}
	if r.Body != nil && r.Body != http.NoBody {
		inner.Body = http.MaxBytesReader(w, r.Body, limit)
	}
	for _, name := range []string{"Svc-Kv-Metadata", "Svc-Object-Metadata"} {
		if metadata := r.Header.Values(name); len(metadata) > 0 {
			inner.Header[name] = metadata
		}
	}
	if contentType := r.Header.Values("Content-Type"); object && len(contentType) > 0 {
		inner.Header["Content-Type"] = contentType
	}
	return inner.WithContext(r.Context()), nil
}

// hasData returns an error for a version whose data is not open [D39].
func hasData(v svc.Version) error {
	switch v.Status { //nolint:exhaustive // the others are in a deploy
	case svc.StatusReady, svc.StatusDraining:
		return nil
	case svc.StatusArchived:
		return svc.Errorf(svc.Conflict, svc.CodeVersionArchived, "version %s is archived; its data is not open", v.Ref).
			WithHint("wake it first")
	case svc.StatusFailed:
		return svc.Errorf(svc.Conflict, svc.CodeVersionFailed, "version %s failed; it has no data", v.Ref)
	case svc.StatusDestroyed:
		return svc.Errorf(svc.Gone, svc.CodeVersionDestroyed, "version %s was destroyed", v.Ref)
	}
	return svc.Errorf(svc.Conflict, svc.CodeVersionNotReady, "version %s is %s", v.Ref, v.Status).
		WithHint("poll it until it is ready")
}
