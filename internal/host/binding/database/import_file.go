package database

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
)

// file is a SQLite file that is imported: its tables, rows, indexes, views and
// triggers one after another, so that nothing of the file's own form is kept.
type file struct {
	c       *raw.Conn
	version int64 // PRAGMA user_version
	objects []object
}

// object is one thing that a database file declares.
type object struct {
	kind string // table, virtual, shadow, internal, index, view or trigger
	name string
	sql  string
}

// badObject is one that cannot be imported.
type badObject struct {
	what string
	err  error
}

func (b *badObject) Error() string {
	err := b.err
	if e, ok := errors.AsType[*raw.Error](err); ok {
		plain := *e
		plain.Offset = -1 // the statement is internal
		err = &plain
	}
	return b.what + ": " + describe(err)
}

func (b *badObject) Unwrap() error { return b.err }

// openFile opens the file at path, which nothing changes, and checks that it is
// whole. What it declares is data here: nothing of it is run.
func openFile(ctx context.Context, path string) (*file, error) {
	c, err := raw.Open(path, raw.Options{Immutable: true})
	if err != nil {
		return nil, damaged(err)
	}
	f := &file{c: c}
	defer c.Until(ctx)()
	if err := f.look(); err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

func damaged(err error) error { return &badObject{"the file cannot be read", err} }

func (f *file) close() { _ = f.c.Close() } // it only read

// afterwards is true: rows are copied table by table.
func (f *file) afterwards() bool { return true }

func (f *file) look() error {
	var p policy
	f.c.SetAuthorizer(func(a raw.Action) bool {
		return a.Verb != raw.VerbAttach && (a.Verb != raw.VerbFunction || p.allowFunction(strings.ToLower(a.Arg2)))
	})
	if err := f.c.Script("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA cache_size = -8000"); err != nil {
		return damaged(err)
	}
	if err := f.list(); err != nil {
		return err
	}
	f.version = pragma(f.c, "PRAGMA user_version")
	verdict := ""
	err := f.c.Query("PRAGMA integrity_check(1)", nil, func(s *raw.Stmt) error {
		verdict = strings.TrimPrefix(s.Text(0), "*** in database main ***\n")
		return nil
	})
	if err != nil {
		return damaged(err)
	}
	if verdict != "ok" {
		return said("the file fails its integrity check: " + verdict)
	}
	return nil
}

// list reads what the file declares, and refuses virtual tables of a sort that
// is not there: nothing can be read of a file with such a table.
func (f *file) list() error {
	err := f.c.Query(`SELECT type, name, coalesce(sql, '') FROM sqlite_schema ORDER BY rowid`, nil, func(s *raw.Stmt) error {
		o := object{kind: s.Text(0), name: s.Text(1), sql: s.Text(2)}
		switch {
		case strings.HasPrefix(strings.ToLower(o.name), "sqlite_"):
			o.kind = "internal"
		case reserved(o.name): // a copy of a platform's own table
			return nil
		case o.kind == "table" && isVirtual(o.sql):
			o.kind = "virtual"
		}
		f.objects = append(f.objects, o)
		return nil
	})
	if err != nil {
		return damaged(err)
	}
	for _, o := range f.objects {
		if module := moduleOf(o.sql); o.kind == "virtual" && !slices.Contains(modules, module) {
			return &badObject{"table " + o.name, fmt.Errorf("it is a virtual table of %s, which is not available; %s are", module, strings.Join(modules, ", "))}
		}
	}
	return f.c.Query(`SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'shadow'`, nil, func(s *raw.Stmt) error {
		i := slices.IndexFunc(f.objects, func(o object) bool { return o.kind == "table" && o.name == s.Text(0) })
		if i >= 0 {
			f.objects[i].kind = "shadow"
		}
		return nil
	})
}

// moduleOf is the module of the statement of a virtual table, in lower case.
func moduleOf(create string) string {
	list, _ := tokens(create)
	for i, t := range list {
		if t.kind == word && strings.EqualFold(create[t.from:t.to], "using") && i+1 < len(list) {
			return strings.ToLower(unquote(create[list[i+1].from:list[i+1].to]))
		}
	}
	return ""
}

// run copies all of it. What refers to tables comes after their rows: so indexes
// are built in one pass, and no trigger fires.
func (f *file) run(ctx context.Context, x *execution) (n counts, err error) {
	defer f.c.Until(ctx)()
	if err := f.declare(x, "table", "virtual"); err != nil {
		return n, err
	}
	for _, o := range f.objects {
		rows := int64(0)
		if o.kind == "table" || o.kind == "shadow" {
			if rows, err = f.copyRows(x, o); err != nil {
				return n, err
			}
		}
		if o.kind == "table" {
			n.rows += rows
		}
		if o.kind == "table" || o.kind == "virtual" {
			n.tables++
		}
	}
	if err := f.declare(x, "index", "view", "trigger"); err != nil {
		return n, err
	}
	if err := f.internals(x); err != nil {
		return n, err
	}
	return n, f.setVersion(x)
}

// declare makes the objects of these kinds, in the order of the kinds.
func (f *file) declare(x *execution, kinds ...string) error {
	for _, kind := range kinds {
		for _, o := range f.objects {
			if o.kind != kind {
				continue
			}
			create := x.define
			if kind == "virtual" {
				create = x.createVirtual
			}
			if err := create(o.sql); err != nil {
				return &badObject{kind + " " + o.name, err}
			}
		}
	}
	return nil
}

// setVersion keeps the file's user_version, unless it has none.
func (f *file) setVersion(x *execution) error {
	if f.version == 0 {
		return nil
	}
	x.c.SetAuthorizer(nil)
	defer x.c.SetAuthorizer(x.policy.allow)
	return x.c.Script(fmt.Sprintf("PRAGMA user_version = %d", f.version))
}
