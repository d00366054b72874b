package database

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
)

// counts tell what an import did.
type counts struct{ tables, rows int64 }

// source is a file that is imported.
type source interface {
	// afterwards says that foreign keys are checked when all is there, and
	// nothing else is done about them: the rows come as they were in a database.
	afterwards() bool
	// run imports it, in a transaction and under the policy.
	run(ctx context.Context, x *execution) (counts, error)
	close()
}

// sqliteMagic begins every database file.
const sqliteMagic = "SQLite format 3\x00"

// countTables counts the tables that people made.
const countTables = `SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'virtual')
	AND name NOT LIKE 'sqlite\_%' ESCAPE '\' AND name NOT LIKE '\_cf\_%' ESCAPE '\'`

// isDatabaseFile tells database files from scripts.
func isDatabaseFile(path string) (bool, error) {
	f, err := os.Open(path) //nolint:gosec // a file of the bundle, or one made here
	if err != nil {
		return false, fmt.Errorf("reading what to import: %w", err)
	}
	defer f.Close()
	head := make([]byte, len(sqliteMagic))
	if _, err := io.ReadFull(f, head); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return false, nil
		}
		return false, fmt.Errorf("reading what to import: %w", err)
	}
	return bytes.Equal(head, []byte(sqliteMagic)), nil
}

// openImport looks at the file at path. What cannot be imported for a reason that
// needs no look into the database, such as damage, is refused here.
func openImport(ctx context.Context, path string) (source, error) { //nolint:ireturn // one form or the other
	binary, err := isDatabaseFile(path)
	if err != nil {
		return nil, err
	}
	if binary {
		return openFile(ctx, path)
	}
	return openScript(path)
}

// take imports src as one transaction, of which before is the first part: when
// it says false, nothing else is done.
func (d *database) take(ctx context.Context, src source, before func(*raw.Conn) (bool, error)) (n counts, err error) {
	err = d.db.Write(ctx, func(c *raw.Conn) error {
		return d.change(c, func() error {
			x := d.execution(c, asArrays, nil)
			x.policy.importing = true
			c.Limit(raw.LimitSQLLength, maxImportSQL)
			defer limit(c)
			defer x.resetSettings()
			if src.afterwards() {
				if err := c.Script("PRAGMA foreign_keys = OFF"); err != nil {
					return err
				}
				defer func() { _ = c.Script("PRAGMA foreign_keys = ON") }() // a switch; it cannot fail
			}
			err := c.InTx("BEGIN IMMEDIATE", func() error {
				if goOn, err := before(c); err != nil || !goOn {
					return err
				}
				var err error
				n, err = x.imports(ctx, src)
				return err
			})
			if err == nil && x.virtual {
				err = c.Script("PRAGMA writable_schema = RESET") // virtual tables remember what was in theirs; this makes them look again
			}
			return err
		})
	})
	return n, err
}

// imports runs src under the policy and checks what the engine has not.
func (x *execution) imports(ctx context.Context, src source) (counts, error) {
	if err := x.c.Script("PRAGMA defer_foreign_keys = ON"); err != nil { // any order will do; it ends with the transaction
		return counts{}, err
	}
	x.c.SetAuthorizer(x.policy.allow)
	defer x.c.SetAuthorizer(nil)
	n, err := src.run(ctx, x)
	if err != nil {
		return n, err
	}
	if err := x.checkNames(); err != nil {
		return n, err
	}
	x.c.SetAuthorizer(nil)
	if src.afterwards() || x.c.OwesForeignKeys() {
		return n, danglingRow(x.c)
	}
	return n, nil
}

// danglingRow names a row that refers to none, if there is one.
func danglingRow(c *raw.Conn) error {
	const first = `SELECT "table", rowid, parent FROM pragma_foreign_key_check LIMIT 1`
	return c.Query(first, nil, func(s *raw.Stmt) error {
		row := "a row"
		if !s.IsNull(1) {
			row = fmt.Sprintf("row %d", s.Int64(1))
		}
		return &raw.Error{Code: raw.ForeignKey, Offset: -1, Message: fmt.Sprintf(
			"FOREIGN KEY constraint failed: %s of %s refers to a row of %s that is not there", row, s.Text(0), s.Text(2))}
	})
}

// explainImport puts the reason why an import failed into words; ok is false
// when the file is not the cause.
func explainImport(err error) (text string, ok bool) {
	var (
		engine    *raw.Error
		statement *badStatement
		object    *badObject
		words     said
	)
	ours := []raw.Code{raw.NoMemory, raw.IOErr, raw.Full, raw.Interrupt}
	if errors.As(err, &engine) && slices.Contains(ours, engine.Code.Primary()) {
		return "", false
	}
	switch {
	case errors.As(err, &statement):
		return statement.Error(), true
	case errors.As(err, &object):
		return object.Error(), true
	case errors.As(err, &words):
		return words.Error(), true
	case engine != nil:
		return describe(err), true
	}
	return "", false
}
