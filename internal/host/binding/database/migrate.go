package database

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/svc"
)

const defaultTable = "d1_migrations" // wrangler's

var tableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Migrate applies the files of m that its table does not list yet, in their
// order. Each is one transaction with its row in the table, so that a failing
// file, which ends the run, leaves nothing. The table is wrangler's.
func (d *database) Migrate(ctx context.Context, m bundle.Migrations, files fs.FS) (applied []string, err error) {
	table := m.Table
	table = cmp.Or(table, defaultTable)
	if !tableName.MatchString(table) || reserved(table) {
		return nil, svc.Errorf(svc.Unprocessable, svc.CodeMigrationsInvalid, "%q cannot name the table of migrations", table)
	}
	for _, f := range m.Files {
		name := strings.TrimPrefix(f.Path, bundle.MigrationPath(m.Binding, ""))
		text, err := fs.ReadFile(files, f.Path)
		if err != nil {
			return applied, fmt.Errorf("reading migration %s of %s: %w", name, m.Binding, err)
		}
		done, err := d.migrate(ctx, table, name, string(text))
		if err != nil {
			return applied, failedMigration(m.Binding, name, err)
		}
		if done {
			applied = append(applied, name)
		}
	}
	return applied, nil
}

// migrate applies one file; done is false when it was applied before.
func (d *database) migrate(ctx context.Context, table, name, text string) (done bool, err error) {
	err = d.db.Write(ctx, func(c *raw.Conn) error {
		return d.change(c, func() error {
			x := d.execution(c, asArrays, nil)
			defer x.resetSettings()
			return c.InTx("BEGIN IMMEDIATE", func() error {
				known, err := isApplied(c, table, name)
				if err != nil || known {
					return err
				}
				if err := x.script(text); err != nil {
					return err
				}
				done = true
				return c.Exec(`INSERT INTO `+table+` (name) VALUES (?1)`, name)
			})
		})
	})
	return done && err == nil, err
}

func isApplied(c *raw.Conn, table, name string) (known bool, err error) {
	err = c.Script(`CREATE TABLE IF NOT EXISTS ` + table + `(
		id         INTEGER PRIMARY KEY AUTOINCREMENT,
		name       TEXT UNIQUE,
		applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL
	)`)
	if err != nil {
		return false, err
	}
	err = c.Query(`SELECT 1 FROM `+table+` WHERE name = ?1`, []any{name}, func(*raw.Stmt) error {
		known = true
		return nil
	})
	return known, err
}

// badStatement is a statement of a file that failed.
type badStatement struct {
	line int // from 1
	text string
	err  error
}

func (b *badStatement) Error() string {
	return fmt.Sprintf("line %d: %s: %s", b.line, describe(b.err), b.text)
}

func (b *badStatement) Unwrap() error { return b.err }

// script runs the statements of text under the policy.
func (x *execution) script(text string) error {
	x.c.SetAuthorizer(x.policy.allow)
	defer x.c.SetAuthorizer(nil)
	if err := x.pieceOf(piece{cut(text), 1}); err != nil {
		return err
	}
	return x.checkNames()
}

// pieceOf runs the statements of one piece of a script.
func (x *execution) pieceOf(p piece) error {
	for at := 0; at < len(p.text); {
		next, err := x.each(p, at)
		if err != nil {
			return err
		}
		at = next
	}
	return nil
}

// each runs the statements of p from at on, up to one that has to be rewritten
// for the engine, and gives the offset after that one.
func (x *execution) each(p piece, at int) (next int, err error) {
	text := p.text
	next = len(text)
	err = x.c.Each(text[at:], func(offset int, s *raw.Stmt, err error) error {
		offset += at
		if err != nil {
			var rest string
			if s, rest, err = x.limited(text[offset:], err); err == nil {
				defer s.Finalize()
				next = len(text) - len(rest)
			}
		}
		if err == nil && s.Params() > 0 {
			err = errParameters
		}
		if err == nil {
			err = drain(s)
		}
		if err == nil {
			return nil
		}
		return badAt(p, begin(text, offset), x.explain(err))
	})
	return next, err
}

// badAt says that the statement at an offset of p failed.
func badAt(p piece, offset int, err error) *badStatement {
	return &badStatement{p.line + strings.Count(p.text[:offset], "\n"), excerpt(p.text[offset:]), err}
}

// excerpt is the beginning of the statement text begins with, on one line.
func excerpt(text string) string {
	const most = 120
	if at := strings.IndexByte(text, ';'); at >= 0 {
		text = text[:at]
	}
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}

func failedMigration(bindingName, file string, err error) error {
	what, ok := refusedSQL(err)
	if !ok {
		return fmt.Errorf("applying migration %s of %s: %w", file, bindingName, err)
	}
	if missingTable(err) {
		return svc.Errorf(svc.Unprocessable, svc.CodeMigrationTableMissing, "migration %s of %s: %s", file, bindingName, what).
			WithHint("nothing of this file was applied; create the table in an earlier migration or in seed/%s.sql, and deploy again", bindingName)
	}
	return svc.Errorf(svc.Unprocessable, svc.CodeMigrationFailed, "migration %s of %s: %s", file, bindingName, what).
		WithHint("nothing of this file was applied; correct it and deploy again")
}

// refusedSQL says what is wrong with a script: with a statement, its commit or a name; false
// for other errors.
func refusedSQL(err error) (what string, ok bool) {
	if statement, ok := errors.AsType[*badStatement](err); ok {
		return statement.Error(), true
	}
	if _, ok := errors.AsType[*raw.Error](err); ok {
		return describe(err), true
	}
	return "", false
}

// missingTable reports whether a statement names a table that does not exist. SQLite
// says so in its text only.
func missingTable(err error) bool {
	engine, ok := errors.AsType[*raw.Error](err)
	return ok && strings.HasPrefix(engine.Message, "no such table")
}
