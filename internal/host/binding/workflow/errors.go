package workflow

import (
	"errors"
	"fmt"
)

var errStopping = errors.New("the version stops")

// refusal is an error that a worker sees, by the name and message of the exception.
type refusal struct {
	Name    string `json:"name"`
	Message string `json:"message"`
	kind    reason
	text    string // Message without the code for workers; "" for a Message without one
}

// reason is what the API makes of a refusal.
type reason int

const (
	invalid reason = iota
	notFound
	conflict
)

func (r *refusal) Error() string { return r.Message }

func refuse(k reason, code, format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	return &refusal{Name: "WorkflowError", Message: "(" + code + ") " + text, kind: k, text: text}
}

// errOver tells a run that it is over.
var errOver = &refusal{Name: "over", Message: "this run of the instance is over", kind: conflict}

// errNotFound is what workerd's simulator says.
func errNotFound() error {
	return &refusal{Name: "Error", Message: "instance.not_found", kind: notFound}
}
