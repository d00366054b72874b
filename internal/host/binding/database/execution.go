package database

import (
	"bytes"
	"errors"
	"time"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
)

// costs is what is noted about a statement when it is compiled, for the counts in meta.
type costs struct {
	written          int64 // records for each changed row
	read, readChange int64 // rows looked up once, and for each changed row
}

// costsOf is nil for a PRAGMA.
func costsOf(s *raw.Stmt) *costs {
	k, _ := s.Note.(*costs)
	return k
}

// rowsRead is how many rows s has read. changed is how many it has changed.
func (k *costs) rowsRead(s *raw.Stmt, changed int64) int64 {
	if k == nil {
		return 0
	}
	return s.Steps() + k.read + k.readChange*changed
}

// rowsWritten is how many records a statement has written that has changed this number of rows.
func (k *costs) rowsWritten(changed int64) int64 {
	if k == nil {
		return changed
	}
	return max(1, k.written) * changed
}

// execution is the run of one request on one connection.
type execution struct {
	c      *raw.Conn
	out    *bytes.Buffer
	most   int          // bytes in out, so that rows are at most maxAnswer
	grow   func() error // is called before out becomes large; nil for none
	format format
	policy policy
	before totals // of the text that runs
	last   int64  // changes before its last statement

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
	var read, written int64
	answered := false
	for rest := q.SQL; rest != ""; {
		s, after, err := x.prepare(rest)
		if err != nil {
			return err
		}
		rest = after
		if s == nil {
			continue
		}
		x.last = x.c.TotalChanges()
		err = x.statement(s, q.Params, rest == "")
		read, written = x.counts(s)
		s.Finalize()
		if err != nil {
			return err
		}
		answered = rest == ""
	}
	if !answered { // a zero byte is left
		return errNoStatement
	}
	x.meta(time.Since(started), read, written)
	return nil
}

// counts are the rows that the last statement, s, has read and written.
func (x *execution) counts(s *raw.Stmt) (read, written int64) {
	k, changed := costsOf(s), x.c.TotalChanges()-x.last
	return k.rowsRead(s, changed), k.rowsWritten(changed)
}

// prepare compiles the first statement of text.
func (x *execution) prepare(text string) (s *raw.Stmt, rest string, err error) {
	for text != "" && isSpace(text[0]) { // offsets in errors count from the statement
		text = text[1:]
	}
	if keyword(text) == "pragma" { // takes effect while it is compiled
		return x.c.Prepare(text)
	}
	if s, rest, err = x.c.Cached(text); err != nil {
		s, rest, err = x.limited(text, err)
	}
	if err != nil || s == nil || s.Note != nil {
		return s, rest, err
	}
	k := &costs{}
	k.read, k.readChange = s.Placed()
	if !x.policy.reader {
		k.written = s.RowWrites()
	}
	s.Note = k
	return s, rest, nil
}

// statement runs s. Only the last statement of a text has parameters and an
// answer.
func (x *execution) statement(s *raw.Stmt, params []param, last bool) error {
	switch {
	case x.policy.reader && !s.ReadOnly():
		return errNeedWrite
	case !last && s.Params() > 0:
		return errNotLast
	case !last:
		return drain(s)
	case len(params) != s.Params():
		return errParameters
	}
	for i, p := range params {
		if err := s.Bind(i+1, p.value); err != nil {
			return err
		}
	}
	return x.rows(s)
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
