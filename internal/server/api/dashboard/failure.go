package dashboard

import (
	"errors"
	"net/http"

	"github.com/svcctl/svcctl/pkg/client"
)

// statusError is an error with its HTTP status.
type statusError struct {
	status int
	text   string
}

// Error implements error.
func (e *statusError) Error() string { return e.text }

// errReadOnly is the answer to a session that may not change what it asked to change.
func errReadOnly() error {
	return &statusError{http.StatusForbidden, "The token of this session may only read."}
}

// fail answers with an error. A token that the API no longer knows ends the session.
func (d *Dashboard) fail(c *call, err error) {
	if c.r.Context().Err() != nil {
		return
	}
	status, body := http.StatusInternalServerError, failure{Text: err.Error()}
	var refused *client.Error
	var own *statusError
	switch {
	case errors.As(err, &own):
		status = own.status
	case errors.As(err, &refused):
		status = refused.Status
		body = failure{Text: refused.Problem.Detail, Hint: refused.Problem.Hint, Code: refused.Problem.Code, Request: refused.Problem.RequestID}
	}
	if status == http.StatusUnauthorized && c.session != nil {
		d.forget(c.w, c.r)
		d.askToSignIn(c.w, c.r)
		return
	}
	d.render(c, "error", page{Title: http.StatusText(status), Status: status, Body: body})
}

// failure is what the page of an error shows.
type failure struct{ Text, Hint, Code, Request string }
