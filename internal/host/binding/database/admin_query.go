package database

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/svc"
)

// The most that an answer to a query has; what is more is left out, and the
// answer says so [D34].
const (
	maxQueryRows  = 10_000
	maxQueryBytes = 16 << 20
)

// adminQuery is the body of POST /database/query.
type adminQuery struct {
	SQL      string            `json:"sql"`
	Params   []json.RawMessage `json:"params"`
	Binding  string            `json:"binding"`
	ReadOnly *bool             `json:"read_only"`
}

func (a admin) query(w http.ResponseWriter, r *http.Request) error {
	var q adminQuery
	var large binding.Large
	defer large.Release()
	body, err := readBody(r, &large)
	if err == nil {
		err = json.Unmarshal(body, &q)
	}
	if err != nil {
		return svc.Errorf(svc.BadRequest, svc.CodeInvalidJSON, "the request body is not valid for this operation").Because(err)
	}
	params := make([]any, len(q.Params))
	for i, p := range q.Params {
		if params[i], err = readExact(p); err != nil {
			return &svc.Error{Kind: svc.BadRequest, Code: svc.CodeInvalidType, Detail: "a parameter cannot be read", Fields: []svc.FieldError{
				{Pointer: "/params/" + strconv.Itoa(i), Code: svc.CodeInvalidType, Detail: `want null, a number, a string, true, false or {"$base64": "…"}`},
			}}
		}
	}
	return a.visit(r, q.Binding, func(d *database, r *http.Request) error {
		out := bytes.NewBufferString(`{"results":[`)
		text := cut(q.SQL)
		if text == "" {
			return errNoStatements
		}
		if err := d.console(r.Context(), text, params, q.ReadOnly == nil || *q.ReadOnly, out); err != nil {
			return err
		}
		out.WriteString("]}")
		binding.Reply(w, "application/json", out.Bytes())
		return nil
	})
}

// console runs the statements of text as one transaction and writes an answer
// for each to out.
func (d *database) console(ctx context.Context, text string, params []any, readOnly bool, out *bytes.Buffer) error {
	if readOnly {
		return d.db.Read(ctx, func(c *raw.Conn) error {
			x := d.execution(c, asObjects, out)
			x.policy.reader = true
			defer x.resetSettings()
			return c.InTx("BEGIN", func() error { return x.console(text, params) })
		})
	}
	return d.db.Write(ctx, func(c *raw.Conn) error {
		return d.change(c, func() error {
			x := d.execution(c, asObjects, out)
			defer x.resetSettings()
			return c.InTx("BEGIN IMMEDIATE", func() error { return x.console(text, params) })
		})
	})
}

// console runs text under the policy. params are the last statement's.
func (x *execution) console(text string, params []any) error {
	x.c.SetAuthorizer(x.policy.allow)
	defer x.c.SetAuthorizer(nil)
	left := maxQueryRows
	for rest, first := text, true; rest != ""; {
		started := time.Now()
		s, after, err := x.prepare(rest)
		if err != nil {
			return x.explain(err)
		}
		if rest = after; s == nil {
			continue
		}
		if !first {
			x.out.WriteByte(',')
		}
		first = false
		x.last = x.c.TotalChanges()
		err = x.show(s, params, rest == "", &left)
		read, written := x.counts(s)
		s.Finalize()
		if err != nil {
			return x.explain(err)
		}
		x.meta(time.Since(started), read, written)
	}
	return x.checkNames()
}

// show runs s to its end and writes its rows, left of them at most.
func (x *execution) show(s *raw.Stmt, params []any, last bool, left *int) error {
	switch {
	case x.policy.reader && !s.ReadOnly():
		return errNeedWrite
	case !last && s.Params() > 0:
		return errNotLast
	case last && len(params) != s.Params():
		return errParameters
	}
	for i := range s.Params() {
		if err := s.Bind(i+1, params[i]); err != nil {
			return err
		}
	}
	x.out.WriteString(`{"success":true,"columns":`)
	x.out.Write(appendNames(x.out.AvailableBuffer(), s, 0))
	x.out.WriteString(`,"results":[`)
	truncated, err := x.showRows(s, left)
	if err != nil {
		return err
	}
	x.out.WriteString(`],"truncated":` + strconv.FormatBool(truncated))
	return nil
}

func (x *execution) showRows(s *raw.Stmt, left *int) (truncated bool, err error) {
	for n := 0; ; n++ {
		more, err := s.Step()
		if err != nil || !more {
			return false, err
		}
		if *left == 0 || x.out.Len() > maxQueryBytes {
			if s.ReadOnly() {
				return true, nil
			}
			return true, drain(s) // what it writes, it writes in full
		}
		*left--
		if n > 0 {
			x.out.WriteByte(',')
		}
		b := append(x.out.AvailableBuffer(), '{')
		for i := range s.Columns() {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendString(b, s.ColumnName(i)), ':')
			b = appendExact(b, s, i)
		}
		x.out.Write(append(b, '}'))
	}
}
