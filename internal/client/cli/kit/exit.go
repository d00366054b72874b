package kit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// The exit codes of the program. docs/guide/cli.md lists them for scripts.
const (
	ExitOK          = 0
	ExitFailure     = 1
	ExitUsage       = 2
	ExitAuth        = 4
	ExitNotFound    = 5
	ExitConflict    = 6
	ExitFailed      = 7 // the version ended as failed
	ExitBusy        = 8 // the queue is full, or the server does not answer
	ExitTimeout     = 124
	ExitInterrupted = 130
)

// UsageError reports invalid command-line usage.
type UsageError struct{ text string }

func (e *UsageError) Error() string { return e.text }

// Usagef makes a UsageError.
func Usagef(format string, args ...any) error { return &UsageError{fmt.Sprintf(format, args...)} }

// TimeoutError ends a wait that --timeout bounded.
type TimeoutError struct{ Text string }

func (e *TimeoutError) Error() string { return e.Text }

// ExitCode maps an error to what the process returns.
func ExitCode(err error) int {
	var usage *UsageError
	var auth *noToken
	var late *TimeoutError
	var refused *client.Error
	var ended *client.VersionError
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &usage):
		return ExitUsage
	case errors.As(err, &auth):
		return ExitAuth
	case errors.As(err, &late):
		return ExitTimeout
	case errors.As(err, &ended):
		return exitOfEnd(ended.Version.Status)
	case errors.As(err, &refused):
		return exitOfRefusal(refused)
	case errors.Is(err, client.ErrUnreachable):
		return ExitBusy
	case errors.Is(err, context.Canceled):
		return ExitInterrupted
	case errors.Is(err, svc.NotFound):
		return ExitNotFound
	case errors.Is(err, svc.Conflict):
		return ExitConflict
	default:
		return ExitFailure
	}
}

// exitOfEnd tells a deploy that failed from a version that is asleep or gone.
func exitOfEnd(status api.VersionStatus) int {
	if status == api.VersionStatusFailed {
		return ExitFailed
	}
	return ExitFailure
}

// exitOfRefusal maps the HTTP status, except for the codes of 503 that report a
// result: a caller that retries on ExitBusy would miss it.
func exitOfRefusal(e *client.Error) int {
	switch e.Problem.Code {
	case svc.CodeWakeFailed, svc.CodeArchiveIncomplete:
		return ExitFailure
	}
	return exitOfStatus(e.Status)
}

func exitOfStatus(status int) int {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return ExitAuth
	case http.StatusNotFound, http.StatusGone:
		return ExitNotFound
	case http.StatusConflict, http.StatusPreconditionFailed:
		return ExitConflict
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		return ExitBusy
	default:
		return ExitFailure
	}
}

// Fail prints err, as a problem document in JSON mode, and gives the exit code.
func (k *Kit) Fail(err error) int {
	code := ExitCode(err)
	if k.JSON() {
		data, jsonErr := json.MarshalIndent(problem(err), "", "  ")
		if jsonErr == nil {
			k.Notef("%s", data)
			return code
		}
	}
	k.Notef("Error: %s", Clean(text(err)))
	return code
}

// text is err for people: several wrong fields get a line each.
func text(err error) string {
	e, ok := errors.AsType[*svc.Error](err)
	if !ok || len(e.Fields) < 2 || e.Err != nil {
		return err.Error()
	}
	lines := []string{e.Detail}
	for _, f := range e.Fields {
		lines = append(lines, "  "+f.Detail)
	}
	if e.Hint != "" {
		lines = append(lines, e.Hint)
	}
	return strings.Join(lines, "\n")
}

// problem is err in the form of the API's own errors.
func problem(err error) api.Problem {
	if refused, ok := errors.AsType[*client.Error](err); ok {
		return refused.Problem
	}
	p := api.Problem{Type: "about:blank", Title: "the command failed", Code: code(err), Detail: err.Error()}
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
	var ended *client.VersionError
	var undone *client.PromotionError
	var own *svc.Error
	switch {
	case errors.As(err, &usage):
		return svc.CodeUsage
	case errors.As(err, &auth):
		return svc.CodeNoToken
	case errors.As(err, &late):
		return svc.CodeTimeout
	case errors.As(err, &ended):
		return codeOfEnd(ended.Version.Status)
	case errors.As(err, &undone):
		return svc.CodePromoteFailed
	case errors.Is(err, client.ErrUnreachable):
		return svc.CodeUnreachable
	case errors.Is(err, context.Canceled):
		return svc.CodeInterrupted
	case errors.As(err, &own):
		return own.Code
	}
	return svc.CodeFailed
}
