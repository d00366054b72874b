package client

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/svcctl/svcctl/pkg/api"
)

// ErrUnreachable is wrapped by every error of a request that got no response.
var ErrUnreachable = errors.New("the service does not answer")

// ErrCertificate is wrapped by the error of a server whose certificate cannot be
// verified.
var ErrCertificate = errors.New("the certificate of the server cannot be verified")

// ErrScheme is wrapped by the error of an https address at which the server speaks
// plain HTTP.
var ErrScheme = errors.New("the server speaks HTTP, not HTTPS: use an http:// address")

// CodeWrongServer is the code of an answer that did not come from the API: that of the
// gateway, or of a port that speaks HTTPS.
const CodeWrongServer = "wrong_server"

// Error is a refused request.
type Error struct {
	Problem    api.Problem   // Code is "" if the answer came from another program, such as a proxy
	Status     int           // HTTP status
	RetryAfter time.Duration // pause before a repeat; 0 if the service did not name one

	carried [sha256.Size]byte // of the request's Authorization header
}

// Carried reports whether the refused request had this token.
func (e *Error) Carried(token string) bool {
	return e.carried == sha256.Sum256([]byte(bearer+token))
}

// Error returns the detail, the wrong fields and the hint of the problem.
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

// CodeOf returns the stable code of a refusal, such as "version_not_ready"; "" if
// no *Error is in err's chain.
func CodeOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Problem.Code
	}
	return ""
}

// refusal is the error of a response that is not 2xx.
func refusal(resp *http.Response, body []byte) *Error {
	e := &Error{Status: resp.StatusCode, RetryAfter: retryAfter(resp.Header.Get("Retry-After"))}
	if resp.Request != nil {
		e.carried = sha256.Sum256([]byte(resp.Request.Header.Get("Authorization")))
	}
	if p, ok := otherServer(resp, body); ok {
		e.Problem = p
		return e
	}
	if strings.Contains(resp.Header.Get("Content-Type"), "json") && json.Unmarshal(body, &e.Problem) == nil && e.Problem.Code != "" {
		return e
	}
	if resp.StatusCode == http.StatusRequestEntityTooLarge {
		e.Problem = tooLarge(resp)
		return e
	}
	e.Problem = api.Problem{
		Title: http.StatusText(resp.StatusCode), Status: resp.StatusCode, RequestID: resp.Header.Get("X-Request-Id"),
		Detail: fmt.Sprintf("the server answered %s without saying why", resp.Status),
		Hint:   "check that the address is that of a svcctl service and that nothing between changes its answers",
	}
	return e
}

// tooLarge is the refusal of a proxy in front of the server, which has its own limit of
// request bodies.
func tooLarge(resp *http.Response) api.Problem {
	size := ""
	if resp.Request != nil && resp.Request.ContentLength > 0 {
		size = fmt.Sprintf(" of %d bytes", resp.Request.ContentLength)
	}
	by := "a proxy before the server"
	if name := resp.Header.Get("Server"); name != "" {
		by += " (" + name + ")"
	}
	return api.Problem{
		Title: http.StatusText(resp.StatusCode), Status: resp.StatusCode, RequestID: resp.Header.Get("X-Request-Id"),
		Detail: fmt.Sprintf("%s refused a body%s: it is above the limit of its request bodies", by, size),
		Hint:   "raise the limit of the proxy (nginx: client_max_body_size, 1 MiB by default) above the size of a bundle, or let the proxy pass any size: the server has a limit of its own",
	}
}

// otherServer recognizes the answers that people get who mistook the address.
func otherServer(resp *http.Response, body []byte) (p api.Problem, ok bool) {
	p = api.Problem{Title: "Wrong server", Status: resp.StatusCode, Code: CodeWrongServer, RequestID: resp.Header.Get("X-Request-Id")}
	switch {
	case fromGateway(resp):
		p.Detail, p.Hint = "the address is that of the gateway, which serves the workers", "use the address of the API, by default port 8790"
	case resp.StatusCode == http.StatusBadRequest && strings.Contains(string(body), "HTTP request to an HTTPS server"):
		p.Detail, p.Hint = "the server speaks HTTPS, not HTTP", "use an https:// address"
	default:
		return p, false
	}
	return p, true
}

// fromGateway reports whether the gateway or a worker behind it answered.
func fromGateway(resp *http.Response) bool {
	return resp.Header.Get("Svc-Error") != "" || resp.Header.Get("Svc-Version") != ""
}

// retryAfter parses a Retry-After header, in seconds.
func retryAfter(value string) time.Duration {
	seconds, err := strconv.Atoi(value)
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

// VersionError reports a version that left its deploy in another status than
// ready: failed, archived or destroyed.
type VersionError struct {
	Version api.Version
}

// Error returns the status and, for a failed deploy, its step, code and reason.
func (e *VersionError) Error() string {
	text := fmt.Sprintf("version %s of %s is %s", e.Version.ID, e.Version.ProjectID, e.Version.Status)
	if e.Version.Error != "" {
		text += ": " + e.Version.Error
	}
	return text
}

// PromotionError reports a promotion that failed and was undone.
type PromotionError struct {
	Promotion api.Promotion
}

// Error returns the reason.
func (e *PromotionError) Error() string {
	p := e.Promotion
	if p.Kind == api.PromotionKindRelease {
		return fmt.Sprintf("the release of %s of %s failed and production is still %s: %s", p.CandidateVersionID, p.ProjectID, p.PreviousVersionID, p.Error)
	}
	return fmt.Sprintf("promoting %s of %s failed and was undone: %s", p.VersionID, p.ProjectID, p.Error)
}

// Code returns the stable code of the step that failed, such as "release_busy"; "" if the
// record names none. The record has "<step>: <code>: <text>".
func (e *PromotionError) Code() string {
	parts := strings.SplitN(e.Promotion.Error, ": ", 3)
	if len(parts) < 3 || strings.ContainsAny(parts[1], " /.") {
		return ""
	}
	return parts[1]
}
