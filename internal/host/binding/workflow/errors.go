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
	return &refusal{"WorkflowError", fmt.Sprintf("(%s) ", code) + fmt.Sprintf(format, args...), k}
}

// errOver tells a run that it is over.
var errOver = &refusal{"over", "this run of the instance is over", conflict}

// errNotFound is what workerd's simulator says.
func errNotFound() error { return &refusal{"Error", "instance.not_found", notFound} }
