package database

import (
	"context"
	"errors"
	"fmt"

	"github.com/svcctl/svcctl/internal/sqlite/raw"
)

// The errors of D1 that are not the engine's, word for word.
var (
	errNoStatements = errors.New("No SQL statements detected.")                                                                                    //nolint:gochecknoglobals,revive,staticcheck // the words are D1's
	errNoStatement  = errors.New("SQL code did not contain a statement.")                                                                          //nolint:gochecknoglobals,revive,staticcheck // the words are D1's
	errParameters   = errors.New("Wrong number of parameter bindings for SQL query.")                                                              //nolint:gochecknoglobals,revive,staticcheck // the words are D1's
	errNotLast      = errors.New("When executing multiple SQL statements in a single call, only the last statement can have parameters.")          //nolint:gochecknoglobals,revive,staticcheck // the words are D1's
	errTransaction  = errors.New("To execute a transaction, please use the state.storage.transaction() or state.storage.transactionSync() APIs " + //nolint:gochecknoglobals,revive,staticcheck // the words are D1's
		"instead of the SQL BEGIN TRANSACTION or SAVEPOINT statements. The JavaScript API is safer because it will automatically roll back on exceptions, " +
		"and because it interacts correctly with Durable Objects' automatic atomic write coalescing.")
	errTooLong   = fmt.Errorf("D1 query exceeded its time limit of %v and was stopped", maxDuration) //nolint:gochecknoglobals,revive,staticcheck // constant
	errTooMuch   = fmt.Errorf("D1 query gives more than %d bytes of rows", maxAnswer)                //nolint:gochecknoglobals,revive,staticcheck // constant
	errNeedWrite = errors.New("not for a reader")                                                    //nolint:gochecknoglobals // constant
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
