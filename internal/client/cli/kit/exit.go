package kit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/svcctl/svcctl/internal/config"
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
	ExitLeaves      = 9 // a promote would leave writes of production behind, and the caller did not accept that
	ExitTimeout     = 124
	ExitInterrupted = 130
)

// EndedError is a command of the user that ended with an exit code other than 0. It has said why.
type EndedError struct {
	Command string
	Code    int
}

func (e *EndedError) Error() string {
	return fmt.Sprintf("%s ended with exit code %d", e.Command, e.Code)
}

// UsageError reports invalid command-line usage.
type UsageError struct {
	text  string
	cause error    // a refusal of the service or of the parser; may be nil
	code  string   // "" for svc.CodeUsage
	next  []string // command lines that were probably meant
}

func (e *UsageError) Error() string { return e.text }

func (e *UsageError) Unwrap() error { return e.cause }

// Usagef makes a UsageError.
func Usagef(format string, args ...any) error { return &UsageError{text: fmt.Sprintf(format, args...)} }

// UsageOf makes a UsageError that wraps the refusal of the parser.
func UsageOf(cause error, text string) error { return &UsageError{text: text, cause: cause} }

// Foreign makes a UsageError for a command line of another tool. next are the command lines that text names.
func Foreign(text string, next []string) error {
	return &UsageError{text: text, code: svc.CodeForeignCommand, next: next}
}

// Hinted is an error with the command lines that were probably meant.
type Hinted struct {
	Err  error
	Hint string
	Next []string
}

func (e *Hinted) Error() string { return e.Err.Error() + "\n" + e.Hint }

func (e *Hinted) Unwrap() error { return e.Err }

// InFlags is err in the words of the command line: flags has the flag for the field
// that a pointer names, "/env" also for "/env/NAME". An error of another field is
// returned unchanged.
func InFlags(err error, flags map[string]string) error {
	var lines []string
	for _, f := range fields(err) {
		first, name, _ := strings.Cut(strings.TrimPrefix(f.Pointer, "/"), "/")
		flag, ok := flags["/"+first]
		if !ok {
			return err
		}
		lines = append(lines, strings.TrimSuffix(flag+" "+name, " ")+": "+f.Detail)
	}
	if len(lines) == 0 {
		return err
	}
	if hint := hintOf(err); hint != "" {
		lines[len(lines)-1] += ": " + hint
	}
	return &UsageError{text: strings.Join(lines, "\n"), cause: err}
}

func hintOf(err error) string {
	if own, ok := errors.AsType[*svc.Error](err); ok {
		return own.Hint
	}
	if refused, ok := errors.AsType[*client.Error](err); ok {
		return refused.Problem.Hint
	}
	return ""
}

// fields are the wrong fields that a check of ours or the service named.
func fields(err error) []svc.FieldError {
	if own, ok := errors.AsType[*svc.Error](err); ok {
		return own.Fields
	}
	var list []svc.FieldError
	if refused, ok := errors.AsType[*client.Error](err); ok {
		for _, f := range refused.Problem.Errors {
			list = append(list, svc.FieldError{Pointer: f.Pointer, Code: f.Code, Detail: f.Detail})
		}
	}
	return list
}

// TimeoutError ends a wait that --timeout bounded.
type TimeoutError struct{ Text string }

func (e *TimeoutError) Error() string { return e.Text }

// InterruptedError reports what Ctrl-C ended, and what became of it.
type InterruptedError struct{ Text string }

func (e *InterruptedError) Error() string { return e.Text }

// Unwrap returns context.Canceled.
func (e *InterruptedError) Unwrap() error { return context.Canceled }

// interruption is the text of an error that Ctrl-C caused, without the words of the program for it.
func interruption(err error) string {
	if _, known := errors.AsType[*InterruptedError](err); known {
		return err.Error()
	}
	text := strings.TrimSuffix(err.Error(), context.Canceled.Error())
	if _, request := errors.AsType[*url.Error](err); request || text == "" {
		return "interrupted"
	}
	return "interrupted: " + strings.TrimSuffix(text, ": ")
}

// WouldFailError reports why the deploy that a dry run tries would end as failed.
type WouldFailError struct{ Cause error }

func (e *WouldFailError) Error() string { return "the deploy would fail: " + e.Cause.Error() }

func (e *WouldFailError) Unwrap() error { return e.Cause }

// ExitCode maps an error to what the process returns.
func ExitCode(err error) int {
	var usage *UsageError
	var command *EndedError
	var auth *noToken
	var late *TimeoutError
	var away *goneDaemon
	var stopped *notRunning
	var refused *client.Error
	var ended *client.VersionError
	var tried *WouldFailError
	var leaves *LeavesError
	var undone *client.PromotionError
	var own *svc.Error
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &command):
		return command.Code
	case errors.As(err, &usage), errors.Is(err, client.ErrScheme):
		return ExitUsage
	case errors.As(err, &leaves):
		return ExitLeaves
	case errors.As(err, &auth):
		return ExitAuth
	case errors.As(err, &undone):
		return exitOfUndone(undone)
	case errors.As(err, &late):
		return ExitTimeout
	case errors.As(err, &ended):
		return exitOfEnd(ended.Version.Status)
	case errors.As(err, &tried):
		return ExitFailed
	case errors.As(err, &refused):
		return exitOfRefusal(refused)
	case errors.Is(err, client.ErrUnreachable), errors.As(err, &away), errors.As(err, &stopped):
		return ExitBusy
	case errors.Is(err, context.Canceled):
		return ExitInterrupted
	case errors.As(err, &own) && (own.Code == svc.CodeForkOfProduction || own.Code == svc.CodeParentNotReady): // of a dry run
		return ExitUsage
	case errors.Is(err, svc.Forbidden):
		return ExitAuth
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
	case svc.CodePromoteLeaves:
		return ExitLeaves
	case client.CodeWrongServer, svc.CodeForkOfProduction, svc.CodeParentNotReady: // the last two: a refused --parent, as parent_not_found
		return ExitUsage
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
	failed := failureOf(err, code)
	k.Event("error", failed)
	if k.JSON() {
		data, jsonErr := json.Marshal(failed)
		if jsonErr == nil {
			k.Notef("%s", escaped(data))
			return code
		}
	}
	k.Notef("Error: %s", k.Explain(err))
	return code
}

// Explain is err for people, with the way out.
func (k *Kit) Explain(err error) string { return Clean(sentence(err) + k.tokenOf(err)) }

// tokenOf says where the token comes from that the server does not know; "" for other errors.
func (k *Kit) tokenOf(err error) string {
	refused, ok := errors.AsType[*client.Error](err)
	c, configErr := k.Config()
	if !ok || refused.Status != http.StatusUnauthorized || configErr != nil {
		return ""
	}
	for key, token := range map[string]string{"admin_token": c.AdminToken.Reveal(), "deploy_token": c.DeployToken.Reveal()} {
		if token != "" && refused.Carried(token) {
			return fmt.Sprintf(": %s does not know the %s of %s\n%s", c.Server, strings.ReplaceAll(key, "_", " "), c.Sources[key], renewed(c, key))
		}
	}
	return ""
}

// renewed says how to replace a token that the server does not know.
func renewed(c *config.Client, key string) string {
	source := c.Sources[key]
	if strings.Contains(source, " ") { // a context, or the daemon of this user: no variable
		return "log in again with: svcctl login " + c.Server
	}
	return fmt.Sprintf("set %s to a token that the server knows, such as its SVC_%s, or log in with: svcctl login %s", source, strings.ToUpper(key), c.Server)
}

// checkServer is what to do about a server that does not answer.
const checkServer = "check that the service runs, and its address: --server URL, or svcctl context list"

// sentence is err for people: several wrong fields get a line each.
func sentence(err error) string {
	if errors.Is(err, client.ErrCertificate) {
		return err.Error() + "\nname the authority that signed it: --ca-file FILE, or SSL_CERT_FILE"
	}
	if errors.Is(err, client.ErrUnreachable) {
		return err.Error() + "\n" + checkServer
	}
	if ExitCode(err) == ExitInterrupted {
		return interruption(err)
	}
	_, said := errors.AsType[*UsageError](err)
	if _, hinted := errors.AsType[*Hinted](err); hinted {
		return err.Error()
	}
	e, ok := errors.AsType[*svc.Error](err)
	if said || !ok || len(e.Fields) < 2 || e.Err != nil {
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
