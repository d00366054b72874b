package kit

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// failure is a problem with what a script needs beside it.
type failure struct {
	api.Problem

	ExitCode   int    `json:"exit_code"`
	ProjectID  string `json:"project_id,omitempty"` // of a version that was waited for, as the next two
	VersionID  string `json:"version_id,omitempty"`
	PreviewURL string `json:"preview_url,omitempty"`

	Next []string `json:"next,omitempty"` // command lines that were probably meant
}

func failureOf(err error, code int) failure {
	f := failure{Problem: problem(err), ExitCode: code}
	if usage, ok := errors.AsType[*UsageError](err); ok {
		f.Next = usage.next
	}
	if hinted, ok := errors.AsType[*Hinted](err); ok {
		f.Next = hinted.Next
	}
	if ended, ok := errors.AsType[*client.VersionError](err); ok {
		f.ProjectID, f.VersionID, f.PreviewURL = ended.Version.ProjectID, ended.Version.ID, ended.Version.PreviewURL
	}
	return f
}

// problem is err in the form of the API's own errors.
func problem(err error) api.Problem {
	if refused, ok := errors.AsType[*client.Error](err); ok {
		return refused.Problem
	}
	p := api.Problem{Code: code(err), Detail: err.Error()}
	p.Type, p.Title, p.Status = "urn:svcctl:problem:"+p.Code, titleOf(p.Code), statusOf(p.Code, ExitCode(err))
	if p.Code == svc.CodeInterrupted {
		p.Detail = interruption(err)
	}
	if errors.Is(err, client.ErrUnreachable) {
		p.Hint = checkServer
	}
	if own, ok := errors.AsType[*svc.Error](err); ok {
		if own.Err == nil && own.Error() == err.Error() { // nothing was said around it
			p.Detail, p.Hint = own.Detail, own.Hint
		}
		for _, f := range own.Fields {
			p.Errors = append(p.Errors, api.FieldProblem{Pointer: f.Pointer, Code: f.Code, Detail: f.Detail})
		}
	}
	return p
}

// titleOf is the title that the service gives a problem with the code.
func titleOf(code string) string {
	return strings.ToUpper(code[:1]) + strings.ReplaceAll(code[1:], "_", " ")
}

// statusOf is the HTTP status that the service gives an error with the code, or one with the meaning of
// the exit code if the service has no such error.
func statusOf(code string, exit int) int {
	for _, known := range svc.Codes() {
		if known.Code == code && len(known.Kinds) > 0 {
			return statusOfKind[known.Kinds[0]]
		}
	}
	return cmp.Or(map[int]int{
		ExitUsage: http.StatusBadRequest, ExitAuth: http.StatusUnauthorized, ExitNotFound: http.StatusNotFound, ExitConflict: http.StatusConflict,
		ExitBusy: http.StatusServiceUnavailable, ExitTimeout: http.StatusGatewayTimeout,
	}[exit], http.StatusInternalServerError)
}

//nolint:gochecknoglobals // a constant table
var statusOfKind = map[svc.Kind]int{
	svc.BadRequest: http.StatusBadRequest, svc.Unauthorized: http.StatusUnauthorized, svc.Forbidden: http.StatusForbidden, svc.NotFound: http.StatusNotFound,
	svc.Conflict: http.StatusConflict, svc.Gone: http.StatusGone, svc.Precondition: http.StatusPreconditionFailed, svc.TooLarge: http.StatusRequestEntityTooLarge,
	svc.Unprocessable: http.StatusUnprocessableEntity, svc.Unavailable: http.StatusServiceUnavailable, svc.Internal: http.StatusInternalServerError,
}

// codeOfEnd names the end of a deploy that was waited for.
func codeOfEnd(status api.VersionStatus) string {
	switch status { //nolint:exhaustive // a wait ends with an error in these statuses only
	case api.VersionStatusArchived:
		return svc.CodeVersionArchived
	case api.VersionStatusDestroyed:
		return svc.CodeVersionDestroyed
	}
	return svc.CodeVersionFailed
}

// code names an error that did not come from the service, for scripts.
func code(err error) string {
	var usage *UsageError
	var auth *noToken
	var late *TimeoutError
	var away *goneDaemon
	var stopped *notRunning
	var ended *client.VersionError
	var undone *client.PromotionError
	var own *svc.Error
	var leaves *LeavesError
	switch {
	case errors.As(err, &usage):
		return cmp.Or(usage.code, svc.CodeUsage)
	case errors.As(err, &leaves):
		return svc.CodePromoteLeaves
	case errors.As(err, &auth):
		return svc.CodeNoToken
	case errors.As(err, &late):
		return svc.CodeTimeout
	case errors.As(err, &ended):
		return codeOfEnd(ended.Version.Status)
	case errors.As(err, &undone):
		return cmp.Or(undone.Code(), svc.CodePromoteFailed)
	case errors.Is(err, client.ErrUnreachable), errors.As(err, &away), errors.As(err, &stopped):
		return svc.CodeUnreachable
	case errors.Is(err, client.ErrCertificate):
		return svc.CodeCertificateUnknown
	case errors.Is(err, client.ErrScheme):
		return svc.CodeWrongServer
	case errors.Is(err, context.Canceled):
		return svc.CodeInterrupted
	case errors.As(err, &own):
		return own.Code
	}
	return svc.CodeFailed
}
