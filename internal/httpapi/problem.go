package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/httpapi/oas"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// statusClientGone is what the log shows for a client that hung up before the
// answer; it is never sent.
const statusClientGone = 499

// defaultRetry is Retry-After of a 503 whose error does not know better [D14].
const defaultRetry = 2 * time.Second

// failure is an error on its way to the wire.
type failure struct {
	problem    api.Problem
	retryAfter time.Duration
}

// methodNotAllowed is a method that a path does not have.
type methodNotAllowed struct{ method, allow string }

func (e methodNotAllowed) Error() string {
	return fmt.Sprintf("this path does not take %s, but %s", knownMethod(e.method), e.allow)
}

// fail is the one way an error leaves the API.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	rec, ok := w.(*recorder)
	switch {
	case ok && rec.status != 0: // half an answer is out: nothing can be added to it
		s.Logger.DebugContext(r.Context(), "an answer was cut short", "request_id", exchangeOf(r.Context()).id, "error", err)
		return
	case ok && r.Context().Err() != nil && errors.Is(err, context.Canceled):
		rec.status = statusClientGone
		return
	}
	f := failureOf(err)
	if f.problem.Status == http.StatusInternalServerError {
		s.Logger.ErrorContext(r.Context(), "a request failed", "request_id", exchangeOf(r.Context()).id, "error", err)
	}
	s.write(w, r, f)
}

// failureOf maps what went wrong to what the client is told. Causes stay in the
// log: only details written for people get out.
func failureOf(err error) failure {
	var later notYet
	var method methodNotAllowed
	switch {
	case errors.As(err, &later):
		return failureWith(http.StatusNotImplemented, &svc.Error{Code: "not_yet", Detail: later.Error()})
	case errors.As(err, &method):
		return failureWith(http.StatusMethodNotAllowed, &svc.Error{Code: "method_not_allowed", Detail: method.Error()})
	}
	e := svc.AsError(err)
	if e.Kind == svc.Internal && errors.Is(err, context.DeadlineExceeded) {
		e = svc.Errorf(svc.Unavailable, "timeout", "the service did not answer in time")
	}
	return failureWith(statusOf(e.Kind), e)
}

// statusOf is the HTTP status of each kind of error.
func statusOf(k svc.Kind) int {
	switch k {
	case svc.BadRequest:
		return http.StatusBadRequest
	case svc.Unauthorized:
		return http.StatusUnauthorized
	case svc.Forbidden:
		return http.StatusForbidden
	case svc.NotFound:
		return http.StatusNotFound
	case svc.Conflict:
		return http.StatusConflict
	case svc.Gone:
		return http.StatusGone
	case svc.Precondition:
		return http.StatusPreconditionFailed
	case svc.TooLarge:
		return http.StatusRequestEntityTooLarge
	case svc.Unprocessable:
		return http.StatusUnprocessableEntity
	case svc.Unavailable:
		return http.StatusServiceUnavailable
	case svc.Internal:
	}
	return http.StatusInternalServerError
}

func failureWith(status int, e *svc.Error) failure {
	p := api.Problem{
		Type: "urn:svcctl:problem:" + e.Code, Title: title(e.Code), Status: status, Code: e.Code, Detail: e.Detail, Hint: e.Hint,
	}
	for _, f := range e.Fields {
		p.Errors = append(p.Errors, api.FieldProblem{Pointer: f.Pointer, Code: f.Code, Detail: f.Detail})
	}
	if e.Queue != nil { // spec: Errors, queue_full
		p.QueueFull, p.PendingJobs, p.QueueMax = true, &e.Queue.Pending, &e.Queue.Max
	}
	if status == http.StatusInternalServerError && e.Hint == "" {
		p.Hint = "the log of the service has the cause under this request_id"
	}
	f := failure{problem: p, retryAfter: e.RetryAfter}
	if status == http.StatusServiceUnavailable && f.retryAfter <= 0 {
		f.retryAfter = defaultRetry
	}
	return f
}

func internalProblem() failure {
	return failureWith(http.StatusInternalServerError, svc.AsError(errors.New("internal")))
}

// title says a code in words.
func title(code string) string {
	if code == "" {
		return ""
	}
	return strings.ToUpper(code[:1]) + strings.ReplaceAll(code[1:], "_", " ")
}

// write sends a failure as problem+json [D5].
func (s *Server) write(w http.ResponseWriter, r *http.Request, f failure) {
	x := exchangeOf(r.Context())
	f.problem.RequestID = x.id
	f.problem.Instance = r.URL.EscapedPath()
	if strings.HasPrefix(r.URL.Path, strings.TrimSuffix(uploadRoute, "{ticket}")) {
		f.problem.Instance = uploadRoute // the path holds a credential, whatever the method
	}
	header := w.Header()
	header.Set("Content-Type", api.ProblemContentType)
	if f.retryAfter > 0 {
		header.Set("Retry-After", strconv.Itoa(int(math.Ceil(f.retryAfter.Seconds()))))
	}
	if f.problem.Status == http.StatusUnauthorized {
		header.Set("WWW-Authenticate", "Bearer")
	}
	body, err := json.Marshal(f.problem)
	if err != nil {
		s.Logger.ErrorContext(r.Context(), "a problem could not be written", "request_id", x.id, "error", err)
	}
	w.WriteHeader(f.problem.Status)
	if _, err := w.Write(append(body, '\n')); err != nil {
		s.Logger.DebugContext(r.Context(), "an answer was cut short", "request_id", x.id, "error", err)
	}
}

// failRequest answers a request whose parameters the generated code could not
// read. Its texts repeat values, so only the parameter's name gets out.
func (s *Server) failRequest(w http.ResponseWriter, r *http.Request, err error) {
	name := "a parameter"
	var format *oas.InvalidParamFormatError
	var many *oas.TooManyValuesForParamError
	switch {
	case errors.As(err, &format):
		name = format.ParamName
	case errors.As(err, &many):
		name = many.ParamName
	}
	s.fail(w, r, svc.Errorf(svc.BadRequest, "invalid_parameter", "%s is not readable, or given more than once", name).Because(err))
}
