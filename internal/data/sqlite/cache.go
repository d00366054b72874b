package sqlite

import (
	"context"
	"database/sql/driver"
	"strings"
)

// maxCached is the number of compiled statements that a connection keeps. Each takes a few
// kilobytes.
const maxCached = 128

// caching connects with connections that keep what they compile.
type caching struct{ driver.Connector }

func (c caching) Connect(ctx context.Context) (driver.Conn, error) {
	inner, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	own, ok := inner.(engine)
	if !ok { // another driver: unchanged
		return inner, nil
	}
	return &conn{engine: own, kept: map[string]*statement{}}, nil
}

// engine is a connection of the driver.
type engine interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.Pinger
	driver.QueryerContext
	driver.SessionResetter
	driver.Validator
	serializer
}

// conn keeps the compiled statements of queries and changes: the driver compiles each text
// again for each use, which takes longer than a short statement runs. SQLite compiles a kept
// one again after a change of the schema. Package sql does not use a connection concurrently.
type conn struct {
	engine

	kept map[string]*statement // by text
}

// statement is a compiled statement. It is busy while its rows are read.
type statement struct {
	driver.Stmt

	busy bool
}

// compiled returns the kept statement of a text, nil if none can be used.
func (c *conn) compiled(ctx context.Context, text string) *statement {
	if s := c.kept[text]; s != nil {
		if s.busy {
			return nil
		}
		return s
	}
	if len(c.kept) >= maxCached || !isOrdinary(text) {
		return nil
	}
	prepared, err := c.PrepareContext(ctx, text)
	if err != nil {
		return nil // the run without it returns the error
	}
	s := &statement{Stmt: prepared}
	c.kept[text] = s
	return s
}

// isOrdinary reports whether a text is one query or change, not a pragma, a script or a
// change of the schema.
func isOrdinary(text string) bool {
	verb, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	switch verb {
	case "SELECT", "INSERT", "UPDATE", "DELETE", "WITH":
		return !strings.Contains(text, ";")
	}
	return false
}

// QueryContext implements driver.QueryerContext.
func (c *conn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	s := c.compiled(ctx, text)
	if s == nil {
		return c.engine.QueryContext(ctx, text, args)
	}
	query, ok := s.Stmt.(driver.StmtQueryContext)
	if !ok {
		return c.engine.QueryContext(ctx, text, args)
	}
	rows, err := query.QueryContext(ctx, args)
	if err != nil {
		return nil, err
	}
	s.busy = true
	return &cursor{rows, s}, nil
}

// ExecContext implements driver.ExecerContext.
func (c *conn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	s := c.compiled(ctx, text)
	if s == nil {
		return c.engine.ExecContext(ctx, text, args)
	}
	exec, ok := s.Stmt.(driver.StmtExecContext)
	if !ok {
		return c.engine.ExecContext(ctx, text, args)
	}
	return exec.ExecContext(ctx, args)
}

// Close implements driver.Conn.
func (c *conn) Close() error {
	for text, s := range c.kept {
		_ = s.Close() // the connection ends as well
		delete(c.kept, text)
	}
	return c.engine.Close()
}

// cursor frees its statement when it is closed.
type cursor struct {
	driver.Rows

	of *statement
}

// Close implements driver.Rows.
func (c *cursor) Close() error {
	c.of.busy = false
	return c.Rows.Close()
}
