package raw

import (
	"errors"
	"fmt"
	"strings"
)

// Query runs the one statement of text with the parameters args and calls row for each
// row, until row returns an error. The statement stays prepared.
func (c *Conn) Query(text string, args []any, row func(*Stmt) error) error {
	s, rest, err := c.Cached(text)
	if err != nil {
		return err
	}
	if s == nil || rest != "" {
		return fmt.Errorf("run %.80q: not one statement", text)
	}
	defer s.Finalize()
	for i, v := range args {
		if err := s.Bind(i+1, v); err != nil {
			return err
		}
	}
	for {
		more, err := s.Step()
		if err != nil || !more {
			return err
		}
		if row == nil {
			continue
		}
		if err := row(s); err != nil {
			return err
		}
	}
}

// Exec runs the one statement of text with the parameters args.
func (c *Conn) Exec(text string, args ...any) error { return c.Query(text, args, nil) }

// Script runs all statements of text, which take no parameters, without caching them.
func (c *Conn) Script(text string) error {
	return c.Each(text, func(_ int, s *Stmt, err error) error {
		for more := true; more && err == nil; {
			more, err = s.Step()
		}
		return err
	})
}

// Each calls fn for each statement of text with its offset. It compiles a statement
// after the previous one has run; err is the compile error of the last one. Each
// finalizes the statements, and returns the first error of fn.
func (c *Conn) Each(text string, fn func(at int, s *Stmt, err error) error) error {
	z := c.cString(text)
	defer c.free(z)
	for at := 0; at < len(text); {
		if strings.IndexByte(" \t\n\v\f\r", text[at]) >= 0 { // offsets in errors count from the statement
			at++
			continue
		}
		s, next, err := c.prepareAt(z, at, len(text), 0)
		switch {
		case err != nil:
			return fn(at, nil, err)
		case s != nil:
			err = fn(at, s, nil)
			s.Finalize()
		}
		if err != nil {
			return err
		}
		if next == at {
			return fn(at, nil, errors.New("a zero byte is not SQL"))
		}
		at = next
	}
	return nil
}

// InTx runs fn in a transaction that the statement begin starts, and commits it when fn
// returns nil. Otherwise, or when the commit fails, it rolls back.
func (c *Conn) InTx(begin string, fn func() error) error {
	if err := c.Exec(begin); err != nil {
		return err
	}
	err := fn()
	if err == nil {
		if err = c.Exec("COMMIT"); err == nil {
			return nil
		}
	}
	if c.InTransaction() { // some errors roll it back themselves
		c.interrupted.Store(false) // the rollback must run
		if undo := c.Exec("ROLLBACK"); undo != nil {
			err = errors.Join(err, undo)
		}
	}
	return err
}
