package svc

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"
)

// Kind classifies an error. Kinds are errors themselves, so
// errors.Is(err, NotFound) works through any wrapping. Each surface maps kinds
// once: httpapi to a status, cli/kit to an exit code.
type Kind string

// The kinds of failure. An error without a kind counts as Internal.
const (
	BadRequest    Kind = "bad request"         // malformed input
	Unauthorized  Kind = "unauthorized"        // no token, or an unknown one
	Forbidden     Kind = "forbidden"           // the token's role does not allow it
	NotFound      Kind = "not found"           // no such thing
	Conflict      Kind = "conflict"            // not in a state that allows it
	Gone          Kind = "gone"                // was destroyed
	Precondition  Kind = "precondition failed" // a compare-and-set was lost
	TooLarge      Kind = "too large"           // over a size limit
	Unprocessable Kind = "unprocessable"       // well formed, and refused by a rule
	Unavailable   Kind = "unavailable"         // try again later
	Internal      Kind = "internal"            // a fault of the service
)

func (k Kind) Error() string { return string(k) }

// Error is the error every surface understands. Code is stable and for
// machines ("version_not_ready"); Detail is for people and never holds a
// secret; Hint says what to do next. Err is the cause and stays in logs.
type Error struct {
	Kind       Kind
	Code       string
	Detail     string
	Hint       string
	Fields     []FieldError
	Queue      *QueueState   // set with code queue_full
	RetryAfter time.Duration // 0 when retrying will not help
	Err        error
}

// FieldError names one wrong field by JSON pointer [D5].
type FieldError struct {
	Pointer string `json:"pointer"`
	Code    string `json:"code"`
	Detail  string `json:"detail"`
}

// QueueState is how full the deploy queue is. spec: Errors, queue_full.
type QueueState struct {
	Pending int
	Max     int
}

// Errorf makes an Error whose detail is formatted like fmt.Sprintf.
func Errorf(kind Kind, code, format string, args ...any) *Error {
	return &Error{Kind: kind, Code: code, Detail: fmt.Sprintf(format, args...)}
}

// WithHint returns e with the way out added. It changes e.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// Because returns e with its cause added. It changes e.
func (e *Error) Because(err error) *Error {
	e.Err = err
	return e
}

// At returns e as the error of one field of a request. It changes e.
func (e *Error) At(pointer string) *Error {
	e.Fields = []FieldError{{pointer, e.Code, e.Detail}}
	return e
}

// Error gives detail, field errors, hint and cause, in that order. A detail
// that is the one of its only field is given once.
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
	return b.String()
}

// Unwrap gives the kind and the cause.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Err}
}

// AsError finds the Error in err's chain, or wraps err: as Unavailable when the
// disk is full, else as Internal. It returns nil for nil.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if errors.Is(err, syscall.ENOSPC) {
		full := Errorf(Unavailable, "disk_full", "the server's disk is full: nothing was stored").
			WithHint("whoever runs the server has to free space under its data directory").Because(err)
		full.RetryAfter = diskRetry
		return full
	}
	return &Error{Kind: Internal, Code: "internal", Detail: "an internal error", Err: err}
}

// diskRetry is when a full disk is worth another look.
const diskRetry = 10 * time.Second

// CodeOf is the machine code of err: "internal" for an error without one.
func CodeOf(err error) string {
	if e := AsError(err); e != nil {
		return e.Code
	}
	return ""
}
