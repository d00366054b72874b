package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/svcctl/svcctl/pkg/api"
)

// ErrUnreachable is in the chain of every failure to get an answer at all.
var ErrUnreachable = errors.New("the service does not answer")

// Error is a refusal of the service.
type Error struct {
	Problem    api.Problem   // what it said; Code is "" when something between did not speak the API
	Status     int           // HTTP status
	RetryAfter time.Duration // when to try again; 0 when it did not say
}

// Error gives detail, wrong fields and hint.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Problem.Detail)
	if e.Problem.Detail == "" {
		b.WriteString(e.Problem.Title)
	}
	for _, f := range e.Problem.Errors {
		if f.Detail != e.Problem.Detail {
			fmt.Fprintf(&b, "; %s: %s", f.Pointer, f.Detail)
		}
	}
	if e.Problem.Hint != "" {
		b.WriteString(": " + e.Problem.Hint)
	}
	return b.String()
}

// CodeOf is the stable code of a refusal: "version_not_ready"; "" when err is
// no *Error.
func CodeOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Problem.Code
	}
	return ""
}

// refusal reads an answer that is not 2xx.
func refusal(resp *http.Response, body []byte) *Error {
	e := &Error{Status: resp.StatusCode, RetryAfter: retryAfter(resp.Header.Get("Retry-After"))}
	if strings.Contains(resp.Header.Get("Content-Type"), "json") && json.Unmarshal(body, &e.Problem) == nil && e.Problem.Code != "" {
		return e
	}
	e.Problem = api.Problem{
		Title: http.StatusText(resp.StatusCode), Status: resp.StatusCode, RequestID: resp.Header.Get("X-Request-Id"),
		Detail: fmt.Sprintf("the server answered %s without saying why", resp.Status),
		Hint:   "check that the address is that of a svcctl service and that nothing between changes its answers",
	}
	return e
}

// retryAfter reads the seconds of a Retry-After header.
func retryAfter(value string) time.Duration {
	seconds, err := strconv.Atoi(value)
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

// VersionError says that a version ended elsewhere than in ready.
type VersionError struct {
	Version api.Version
}

// Error gives the status and the step, code and text of the failure.
func (e *VersionError) Error() string {
	text := fmt.Sprintf("version %s of %s is %s", e.Version.ID, e.Version.ProjectID, e.Version.Status)
	if e.Version.Error != "" {
		text += ": " + e.Version.Error
	}
	return text
}

// PromotionError says that a promotion failed and was undone.
type PromotionError struct {
	Promotion api.Promotion
}

// Error gives the reason.
func (e *PromotionError) Error() string {
	return fmt.Sprintf("promoting %s of %s failed and was undone: %s", e.Promotion.VersionID, e.Promotion.ProjectID, e.Promotion.Error)
}
