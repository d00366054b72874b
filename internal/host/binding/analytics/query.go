package analytics

import (
	"context"
	"encoding/json"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	queryTime = 30 * time.Second
	maxRows   = 10_000
	maxBytes  = 16 << 20 // of an answer, roughly
	maxSQL    = 100_000  // bytes
	valueSize = 16       // what a value takes beside a text
)

// Admin gives the query [D33].
func (Kind) Admin(open []binding.Opened) map[string]binding.Operation {
	return map[string]binding.Operation{
		"POST /analytics/query": func(w http.ResponseWriter, r *http.Request) error { return query(open, w, r) },
	}
}

// answer is that of POST /analytics/query.
type answer struct {
	Columns   []string         `json:"columns"`
	Rows      []map[string]any `json:"rows"`
	Truncated bool             `json:"truncated"`
	size      int
}

func query(open []binding.Opened, w http.ResponseWriter, r *http.Request) error {
	var q struct {
		SQL string `json:"sql"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxSQL)).Decode(&q); err != nil {
		return svc.Errorf(svc.BadRequest, svc.CodeInvalidJSON, "the request body is not valid for this operation").Because(err)
	}
	if len(open) == 0 {
		return svc.Errorf(svc.NotFound, svc.CodeBindingNotFound, "this version has no dataset")
	}
	d, err := binding.InstanceOf[*dataset](open[0], "dataset")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), queryTime)
	defer cancel()
	out, err := run(ctx, d.db, q.SQL)
	if err != nil {
		return err
	}
	return binding.WriteJSON(w, out)
}

// run runs one statement that reads.
func run(ctx context.Context, db volume.Database, sql string) (out answer, err error) {
	out = answer{Columns: []string{}, Rows: []map[string]any{}}
	err = db.Read(ctx, func(c *raw.Conn) error {
		c.SetAuthorizer(allow)
		defer c.SetAuthorizer(nil)
		stop := c.Until(ctx)
		defer stop()
		s, rest, err := c.Prepare(sql)
		if err != nil {
			return refuse(err)
		}
		if s == nil || strings.TrimSpace(rest) != "" {
			if s != nil {
				s.Finalize()
			}
			return svc.Errorf(svc.Unprocessable, svc.CodeSQLError, "want one statement")
		}
		defer s.Finalize()
		return refuse(out.read(s))
	})
	return out, err
}

// refuse makes an error of the engine one of the caller.
func refuse(err error) error {
	if err == nil {
		return nil
	}
	return svc.Errorf(svc.Unprocessable, svc.CodeSQLError, "%v", err)
}

// allow lets statements read and call functions.
func allow(a raw.Action) bool {
	switch a.Verb { //nolint:exhaustive // all others are refused
	case raw.VerbRead, raw.VerbSelect, raw.VerbRecursive:
		return true
	case raw.VerbFunction:
		return !strings.EqualFold(a.Arg2, "load_extension")
	}
	return false
}

func (out *answer) read(s *raw.Stmt) error {
	for i := range s.Columns() {
		out.Columns = append(out.Columns, s.ColumnName(i))
	}
	for {
		more, err := s.Step()
		if err != nil || !more {
			return err
		}
		if len(out.Rows) == maxRows || out.size > maxBytes {
			out.Truncated = true
			return nil
		}
		row := map[string]any{}
		for i, name := range out.Columns {
			row[name] = out.value(s, i)
		}
		out.Rows = append(out.Rows, row)
	}
}

// value is a column as JSON; a number that JSON does not have is null.
func (out *answer) value(s *raw.Stmt, i int) any {
	out.size += valueSize
	switch s.ColumnType(i) { //nolint:exhaustive // null is the rest
	case raw.Integer:
		return s.Int64(i)
	case raw.Float:
		if v := s.Float64(i); !math.IsInf(v, 0) {
			return v
		}
	case raw.Text, raw.Blob:
		out.size += len(s.View(i))
		return s.Text(i)
	}
	return nil
}
