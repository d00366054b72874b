package svc

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"
)

// Kind classifies an error. Kinds are errors themselves, so
// errors.Is(err, NotFound) works through any wrapping. Package httpapi maps a
// kind to an HTTP status, package cli/kit to an exit code.
type Kind string

// The kinds of failure. An error without a kind counts as Internal.
const (
	BadRequest    Kind = "bad request"         // malformed input
	Unauthorized  Kind = "unauthorized"        // no token, or an unknown one
	Forbidden     Kind = "forbidden"           // the token's role does not allow it
	NotFound      Kind = "not found"           // does not exist
	Conflict      Kind = "conflict"            // not in a state that allows it
	Gone          Kind = "gone"                // was destroyed
	Precondition  Kind = "precondition failed" // a compare-and-set failed
	TooLarge      Kind = "too large"           // over a size limit
	Unprocessable Kind = "unprocessable"       // well formed, and rejected by a rule
	Unavailable   Kind = "unavailable"         // try again later
	Internal      Kind = "internal"            // a fault of the service
)

func (k Kind) Error() string { return string(k) }

// Error is the error type of the program. Code is stable and for programs
// ("version_not_ready"). Detail is for people and never holds a secret. Hint is
// an imperative. Err is the cause; it is logged, never sent to a client.
type Error struct {
	Kind       Kind
	Code       string
	Detail     string
	Hint       string
	Fields     []FieldError
	Output     string        // final output of a worker that did not start; lines, without secrets
	Queue      *QueueState   // with code queue_full
	Unmerged   *Unmerged     // with code promote_leaves_writes
	RetryAfter time.Duration // 0 if a retry cannot succeed
	Err        error
}

// FieldError names one wrong field by JSON pointer [D5].
type FieldError struct {
	Pointer string `json:"pointer"`
	Code    string `json:"code"`
	Detail  string `json:"detail"`
}

// QueueState is the length of the deploy queue and its limit. spec: [C13.9].
type QueueState struct {
	Pending int
	Max     int
}

// Errorf returns an Error whose detail is formatted like fmt.Sprintf.
func Errorf(kind Kind, code, format string, args ...any) *Error {
	return &Error{Kind: kind, Code: code, Detail: fmt.Sprintf(format, args...)}
}

// WithHint returns a copy of e with a hint, formatted like fmt.Sprintf.
func (e *Error) WithHint(format string, args ...any) *Error {
	c := *e
	c.Hint = fmt.Sprintf(format, args...)
	return &c
}

// Because returns a copy of e with the cause err.
func (e *Error) Because(err error) *Error {
	c := *e
	c.Err = err
	return &c
}

// At returns a copy of e as the error of one field of a request.
func (e *Error) At(pointer string) *Error {
	c := *e
	c.Fields = []FieldError{{pointer, e.Code, e.Detail}}
	return &c
}

// After returns a copy of e with RetryAfter d.
func (e *Error) After(d time.Duration) *Error {
	c := *e
	c.RetryAfter = d
	return &c
}

// Printed returns a copy of e with the final output of a worker, secrets removed.
func (e *Error) Printed(output string) *Error {
	c := *e
	c.Output = output
	return &c
}

// Error returns detail, field errors, hint, cause and output, in that order. If
// the detail equals that of the only field, it appears once.
func (e *Error) Error() string {
	var b strings.Builder
	fields := e.Fields
	switch {
	case len(fields) == 1 && fields[0].Detail == e.Detail:
		b.WriteString(fields[0].Pointer + ": " + e.Detail)
		fields = nil
	case e.Detail == "":
		b.WriteString(e.Code)
	default:
		b.WriteString(e.Detail)
	}
	for _, f := range fields {
		fmt.Fprintf(&b, "; %s: %s", f.Pointer, f.Detail)
	}
	if e.Hint != "" {
		b.WriteString(": " + e.Hint)
	}
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	if e.Output != "" {
		b.WriteString("\nfinal output of the worker:\n" + e.Output)
	}
	return b.String()
}

// Unwrap returns the kind and the cause.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Err}
}

// AsError returns the first Error in the chain of err. An err without one becomes
// Unavailable disk_full if the disk is full, else Internal. It returns nil for nil.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if errors.Is(err, syscall.ENOSPC) {
		return Errorf(Unavailable, CodeDiskFull, "the server's disk is full: nothing was stored").
			WithHint("free disk space in the server's data directory").Because(err).After(diskRetry)
	}
	return &Error{Kind: Internal, Code: CodeInternal, Detail: "an internal error", Err: err}
}

// diskRetry is the RetryAfter of a full disk.
const diskRetry = 10 * time.Second

// CodeOf returns the code of err: "internal" for an error without one, "" for nil.
func CodeOf(err error) string {
	if e := AsError(err); e != nil {
		return e.Code
	}
	return ""
}
