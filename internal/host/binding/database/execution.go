package database

import (
	"bytes"
	"errors"
	"time"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
)

// What is noted about a statement when it is compiled: bits, and above them how
// many records it writes for a row.
const (
	noted       = 1 << iota
	readsTables // it reads tables
	noteShift   = iota
)

// execution is the run of one request on one connection.
type execution struct {
	c      *raw.Conn
	out    *bytes.Buffer
	most   int // bytes in out, so that rows are at most maxAnswer
	format format
	policy policy
	before totals // of the statement that runs

	virtual bool // virtual tables were made whose rows came from elsewhere
}

// guarded runs list under the policy.
func (x *execution) guarded(list []query) error {
	x.c.SetAuthorizer(x.policy.allow)
	defer x.c.SetAuthorizer(nil)
	x.out.WriteByte('[')
	for i, q := range list {
		if i > 0 {
			x.out.WriteByte(',')
		}
		if err := x.query(q); err != nil {
			return x.explain(err)
		}
	}
	x.out.WriteByte(']')
	return x.checkNames()
}

// checkNames refuses a request that renamed a table into the platform's names.
func (x *execution) checkNames() error {
	if !x.policy.renames {
		return nil
	}
	x.c.SetAuthorizer(nil)
	const others = `SELECT 1 FROM sqlite_schema WHERE name LIKE '\_cf\_%' ESCAPE '\' AND sql IS NOT ?1`
	return x.c.Query(others, []any{marksTable}, func(*raw.Stmt) error {
		return &raw.Error{Code: raw.Auth, Message: "not authorized", Offset: -1}
	})
}

// explain replaces the engine's refusal by what the policy knows about it.
func (x *execution) explain(err error) error {
	var e *raw.Error
	switch {
	case x.policy.needWriter:
		return errNeedWrite
	case x.policy.transaction && errors.As(err, &e) && e.Code == raw.Auth:
		return errTransaction
	case x.policy.hidden != "":
		return &raw.Error{Code: raw.Generic, Message: "no such table: " + x.policy.hidden, Offset: -1}
	}
	return err
}

// query runs the statements of one text and writes the answer of the last.
func (x *execution) query(q query) error {
	if len(q.SQL) > maxSQL {
		return &raw.Error{Code: raw.TooBig, Message: "statement too long", Offset: -1}
	}
	started := time.Now()
	x.out.WriteString(`{"success":true,"results":`)
	var rowsRead int64
	perRow, answered := 1, false
	for rest := q.SQL; rest != ""; {
		s, after, err := x.prepare(rest)
		if err != nil {
			return err
		}
		rest = after
		if s == nil {
			continue
		}
		rowsRead, err = x.statement(s, q.Params, rest == "")
		perRow = max(1, s.Note>>noteShift)
		s.Finalize()
		if err != nil {
			return err
		}
		answered = rest == ""
	}
	if !answered { // a zero byte is left
		return errNoStatement
	}
	x.meta(time.Since(started), rowsRead, int64(perRow))
	return nil
}

// prepare compiles the first statement of text.
func (x *execution) prepare(text string) (s *raw.Stmt, rest string, err error) {
	for text != "" && isSpace(text[0]) { // offsets in errors count from the statement
		text = text[1:]
	}
	x.policy.reads = false
	if keyword(text) == "pragma" { // takes effect while it is compiled
		return x.c.Prepare(text)
	}
	if s, rest, err = x.c.Cached(text); err != nil {
		s, rest, err = x.limited(text, err)
	}
	if err != nil || s == nil || s.Note != 0 {
		return s, rest, err
	}
	s.Note = noted
	if x.policy.reads {
		s.Note |= readsTables
	}
	if !x.policy.reader {
		s.Note |= int(s.RowWrites()) << noteShift
	}
	return s, rest, nil
}

// statement runs s. Only the last statement of a text has parameters and an
// answer.
func (x *execution) statement(s *raw.Stmt, params []param, last bool) (rowsRead int64, err error) {
	switch {
	case x.policy.reader && !s.ReadOnly():
		return 0, errNeedWrite
	case !last && s.Params() > 0:
		return 0, errNotLast
	case !last:
		return 0, drain(s)
	case len(params) != s.Params():
		return 0, errParameters
	}
	for i, p := range params {
		if err := s.Bind(i+1, p.value); err != nil {
			return 0, err
		}
	}
	if err := x.rows(s); err != nil || s.Note&readsTables == 0 {
		return 0, err
	}
	return s.Steps() + 1, nil // and where it went first
}

func drain(s *raw.Stmt) error {
	for {
		more, err := s.Step()
		if err != nil || !more {
			return err
		}
	}
}

// resetSettings puts back what the request's PRAGMA statements changed.
func (x *execution) resetSettings() {
	for _, name := range x.policy.settings {
		_ = x.c.Script("PRAGMA " + name + " = OFF") // a name of our own table; it cannot fail
	}
}
