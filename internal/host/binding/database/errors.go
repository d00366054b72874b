package database

import (
	"context"
	"errors"
	"fmt"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
)

// said is an error whose words a worker sees.
type said string

func (s said) Error() string { return string(s) }

// The errors of D1 that are not the engine's, word for word.
const (
	errNoStatements = said("No SQL statements detected.")
	errNoStatement  = said("SQL code did not contain a statement.")
	errParameters   = said("Wrong number of parameter bindings for SQL query.")
	errNotLast      = said("When executing multiple SQL statements in a single call, only the last statement can have parameters.")
	errTransaction  = said("To execute a transaction, please use the state.storage.transaction() or state.storage.transactionSync() APIs " +
		"instead of the SQL BEGIN TRANSACTION or SAVEPOINT statements. The JavaScript API is safer because it will automatically roll back on exceptions, " +
		"and because it interacts correctly with Durable Objects' automatic atomic write coalescing.")
)

var (
	errTooLong   = fmt.Errorf("D1 query exceeded its time limit of %v and was stopped", maxDuration)
	errTooMuch   = fmt.Errorf("D1 query gives more than %d bytes of rows", maxAnswer)
	errNeedWrite = errors.New("not for a reader")
)

// describe is err in the words of D1: the engine's message, where in the text,
// and the code's name.
func describe(err error) string {
	var e *raw.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return errTooLong.Error() + ": " + raw.Interrupt.String()
	case !errors.As(err, &e):
		return err.Error()
	case e.Code == raw.Interrupt:
		return errTooLong.Error() + ": " + raw.Interrupt.String()
	}
	text := e.Message
	if e.Offset >= 0 {
		text = fmt.Sprintf("%s at offset %d", text, e.Offset)
	}
	primary := e.Code.Primary()
	text += ": " + primary.String()
	if e.Code != primary {
		text += fmt.Sprintf(" (extended: %s)", e.Code)
	}
	return text
}
