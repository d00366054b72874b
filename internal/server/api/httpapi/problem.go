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

	"github.com/svcctl/svcctl/internal/server/api/httpapi/oas"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// statusClientGone is the logged status of a request whose client disconnected
// before the response; it is never sent.
const statusClientGone = 499

// defaultRetry is the Retry-After of a 503 whose error has none [D14].
const defaultRetry = 2 * time.Second

// failure is an error response.
type failure struct {
	problem    api.Problem
	retryAfter time.Duration
}

// methodNotAllowed is the error of a path without the requested method.
type methodNotAllowed struct{ method, allow string }

func (e methodNotAllowed) Error() string {
	return fmt.Sprintf("the path does not have the method %s; allowed: %s", knownMethod(e.method), e.allow)
}

// fail sends an error as the response of a request.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	rec, ok := w.(*recorder)
	switch {
	case ok && rec.status != 0: // the response has begun
		s.Logger.DebugContext(r.Context(), "response aborted", "request_id", exchangeOf(r.Context()).id, "error", err)
		return
	case ok && r.Context().Err() != nil && errors.Is(err, context.Canceled):
		rec.status = statusClientGone
		return
	}
	f := failureOf(err)
	if f.problem.Status == http.StatusInternalServerError {
		s.Logger.ErrorContext(r.Context(), "request failed", "request_id", exchangeOf(r.Context()).id, "error", err)
	}
	s.write(w, r, f)
}

// failureOf maps an error to its response, without causes.
func failureOf(err error) failure {
	if method, ok := errors.AsType[methodNotAllowed](err); ok {
		return failureWith(http.StatusMethodNotAllowed, &svc.Error{Code: svc.CodeMethodNotAllowed, Detail: method.Error()})
	}
	e := svc.AsError(err)
	if e.Kind == svc.Internal && errors.Is(err, context.DeadlineExceeded) {
		e = svc.Errorf(svc.Unavailable, svc.CodeTimeout, "the service did not answer in time")
	}
	return failureWith(StatusOf(e.Kind), e)
}

// StatusOf returns the HTTP status of a kind of error.
func StatusOf(k svc.Kind) int {
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
	if e.Queue != nil { // spec: [C13.9]
		p.QueueFull, p.PendingJobs, p.QueueMax = true, &e.Queue.Pending, &e.Queue.Max
	}
	p.Unmerged = unmergedOut(e.Unmerged)
	if status == http.StatusInternalServerError && e.Hint == "" {
		p.Hint = "look up the request_id in the service's log"
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

// title returns a code in words.
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
		f.problem.Instance = uploadRoute      // the path holds a credential
		w.Header().Set("Connection", "close") // the answer comes before the body
	}
	header := w.Header()
	if r.ContentLength != 0 { // a body that was refused does not keep its connection busy
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(restTime)) // pages have no connection here
	}
	header.Set("Content-Type", api.ProblemContentType)
	if f.retryAfter > 0 {
		header.Set("Retry-After", strconv.Itoa(int(math.Ceil(f.retryAfter.Seconds()))))
	}
	if f.problem.Status == http.StatusUnauthorized {
		header.Set("WWW-Authenticate", "Bearer")
	}
	body, err := json.Marshal(f.problem)
	if err != nil {
		s.Logger.ErrorContext(r.Context(), "encoding an error response failed", "request_id", x.id, "error", err)
	}
	w.WriteHeader(f.problem.Status)
	if _, err := w.Write(append(body, '\n')); err != nil {
		s.Logger.DebugContext(r.Context(), "response aborted", "request_id", x.id, "error", err)
	}
}

// failRequest answers a request whose parameters the generated code could not parse.
// The errors of that code contain values, so the response has only the parameter's
// name.
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
	s.fail(w, r, svc.Errorf(svc.BadRequest, svc.CodeInvalidParameter, "%s is malformed or repeated", name).Because(err))
}
