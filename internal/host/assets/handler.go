package assets

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
)

// ServeHTTP answers what the worker fetches through its binding.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // workerd loses the connection otherwise
	a := s.Fetch(&Request{
		Method: r.Method, Host: r.Host, Target: r.URL.RequestURI(),
		Field: r.Header.Get,
	})
	f, err := a.Open()
	if err != nil {
		http.Error(w, fmt.Sprintf("the asset cannot be read: %v", err), http.StatusInternalServerError)
		return
	}
	maps.Copy(w.Header(), a.Header)
	w.WriteHeader(a.Status)
	if f == nil {
		return
	}
	defer f.Close()
	_, _ = io.Copy(w, io.NewSectionReader(f, a.Offset, a.Length)) // a worker that stopped reading needs no more
}

// Open opens the file of the answer; nil for an answer without a body.
func (a *Answer) Open() (*os.File, error) {
	if a.File == "" {
		return nil, nil //nolint:nilnil // nothing to read is no failure
	}
	return os.Open(a.File)
}
