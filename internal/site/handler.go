package site

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
)

// WorkerHeader is in the answer of ServeVisitor to a request that is the worker's.
const WorkerHeader = "Svc-Worker"

// ServeHTTP answers what the worker fetches through its binding.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // workerd loses the connection otherwise
	a := s.Fetch(requestOf(r))
	a.write(w)
}

// ServeVisitor answers what a visitor would get of the files, or says that the worker answers.
func (s *Site) ServeVisitor(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // as above
	a, ok := s.Route(requestOf(r))
	if !ok {
		w.Header().Set(WorkerHeader, "1")
		w.WriteHeader(http.StatusNoContent)
		return
	}
	a.write(w)
}

func requestOf(r *http.Request) *Request {
	return &Request{Method: r.Method, Host: r.Host, Target: r.URL.RequestURI(), Field: r.Header.Get}
}

// write sends the answer.
func (a *Answer) write(w http.ResponseWriter) {
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
		return nil, nil // nothing to read is no failure
	}
	return os.Open(a.File) //nolint:gosec // a file of the list, not a name of the request
}
