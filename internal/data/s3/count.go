package s3

import (
	"net/http"
	"time"
)

// counted reports every request to the object store, each attempt separately.
type counted struct {
	inner  http.RoundTripper
	report func(op, result string, took time.Duration)
}

// RoundTrip implements http.RoundTripper.
func (c counted) RoundTrip(r *http.Request) (*http.Response, error) {
	began := time.Now()
	resp, err := c.inner.RoundTrip(r)
	c.report(operation(r), result(resp, err), time.Since(began))
	return resp, err
}

// operation is the operation of a request, in the words of [D31].
func operation(r *http.Request) string {
	q := r.URL.Query()
	switch {
	case r.Method == http.MethodGet && q.Has("list-type"):
		return "list"
	case r.Method == http.MethodPost && q.Has("delete"), r.Method == http.MethodDelete:
		return "delete"
	case r.Method == http.MethodGet:
		return "get"
	case r.Method == http.MethodHead:
		return "head"
	case r.Method == http.MethodPut:
		return "put"
	}
	return "other"
}

// result is the result of a request: a rejection that callers expect is no error.
func result(resp *http.Response, err error) string {
	switch {
	case err != nil:
		return "unreachable"
	case resp.StatusCode < http.StatusBadRequest:
		return "ok"
	case resp.StatusCode == http.StatusNotFound:
		return "not_found"
	case resp.StatusCode == http.StatusPreconditionFailed, resp.StatusCode == http.StatusConflict:
		return "precondition"
	}
	return "error"
}
