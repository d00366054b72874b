package database

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
)

const errRollback = said("the script takes itself back with ROLLBACK; a dump ends so when the database it was made of is damaged")

// script is SQL that is imported: statements as for a migration, and what
// sqlite3's .dump and wrangler's export write beside them.
type script struct {
	file   *os.File
	pieces *splitter
	first  piece // the first with a statement of its own
	loose  bool  // it said before that foreign keys are not to be looked at
}

// openScript reads the script at path up to its first statement.
func openScript(path string) (*script, error) {
	f, err := os.Open(path) //nolint:gosec // likewise: a file of the bundle, or one made here
	if err != nil {
		return nil, fmt.Errorf("reading what to import: %w", err)
	}
	s := &script{file: f}
	if s.pieces, err = newSplitter(f); err == nil {
		err = s.begin()
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// begin passes over what a dump begins with: settings, and BEGIN.
func (s *script) begin() error {
	for {
		p, err := s.pieces.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		head := words(p.text, headWords)
		if useOf(head) != passOver {
			s.first = p
			return nil
		}
		if len(head) > 1 && head[0] == "pragma" {
			s.loose = true
		}
	}
}

func (s *script) close() { _ = s.file.Close() }

func (s *script) afterwards() bool { return s.loose }

// run runs the statements.
func (s *script) run(ctx context.Context, x *execution) (n counts, err error) {
	before, changes := x.tableCount(), x.c.TotalChanges()
	for p := s.first; ; {
		if err := ctx.Err(); err != nil {
			return n, err
		}
		if err := x.imported(p); err != nil {
			return n, err
		}
		if p, err = s.pieces.next(); errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return n, err
		}
	}
	return counts{max(x.tableCount()-before, 0), x.c.TotalChanges() - changes}, nil
}

// imported runs one piece of a script.
func (x *execution) imported(p piece) error {
	head := words(p.text, headWords)
	switch useOf(head) {
	case passOver:
		return nil
	case takeBack:
		return badAt(p, begin(p.text, 0), errRollback)
	case virtualTable:
		if text, ok := virtualOf(p.text); ok {
			if err := x.createVirtual(text); err != nil {
				return badAt(p, begin(p.text, 0), x.explain(err))
			}
			return nil
		}
	case plain:
	}
	return x.pieceOf(p)
}

// use is what is done with a statement of a script.
type use int

const (
	plain        use = iota
	passOver         // the whole import is a transaction with settings of its own
	takeBack         // it would leave nothing
	virtualTable     // written into the schema itself, as sqlite3 dumps a virtual table
)

// headWords is how many tokens of a statement useOf needs.
const headWords = 6

// useOf tells by the first tokens of a statement.
func useOf(head []string) use {
	at := func(i int) string {
		if i < len(head) {
			return head[i]
		}
		return ""
	}
	switch at(0) {
	case "":
		return passOver
	case "begin", "commit", "end":
		return passOver
	case "rollback":
		return takeBack
	case "pragma":
		if slices.Contains([]string{"foreign_keys", "defer_foreign_keys", "writable_schema"}, at(1)) {
			return passOver
		}
	case "insert":
		switch name := at(2); {
		case at(1) != "into":
		case name == "sqlite_schema" || name == "sqlite_master":
			return virtualTable
		case reserved(name): // a copy of a platform's own table
			return passOver
		}
	case "create":
		name := at(2)
		if at(1) == "table" && name == "if" {
			name = at(5) // NOT EXISTS
		}
		if at(1) == "table" && reserved(name) {
			return passOver
		}
	}
	return plain
}

// words are the first tokens of text, at most n, in lower case and without
// quotes.
func words(text string, n int) []string {
	list := make([]string, 0, n)
	for at := 0; at < len(text) && len(list) < n; {
		if next := blank(text, at); next > at {
			at = next
			continue
		}
		if text[at] == ';' {
			break
		}
		t := lex(text, at)
		list = append(list, strings.ToLower(unquote(text[t.from:t.to])))
		at = t.to
	}
	return list
}

// virtualOf is the statement that made a virtual table, out of the one that
// sqlite3's .dump writes for it.
func virtualOf(text string) (create string, ok bool) {
	list, _ := tokens(text)
	if len(list) < 3 {
		return "", false
	}
	last := list[len(list)-2] // before the parenthesis
	create = unquote(text[last.from:last.to])
	return create, last.kind == literal && isVirtual(create)
}

func isVirtual(create string) bool {
	return slices.Equal(words(create, 3), []string{"create", "virtual", "table"})
}

// createVirtual makes a virtual table whose rows follow, in the tables that it
// keeps them in: those begin empty then.
func (x *execution) createVirtual(text string) error {
	x.virtual = true
	before, err := x.shadows()
	if err != nil {
		return err
	}
	if err := x.define(text); err != nil {
		return err
	}
	after, err := x.shadows()
	if err != nil {
		return err
	}
	for _, name := range after {
		if slices.Contains(before, name) {
			continue
		}
		if err := x.c.Exec("DELETE FROM " + quoteName(name)); err != nil {
			return err
		}
	}
	return nil
}

// define runs one statement that declares something.
func (x *execution) define(text string) error {
	s, rest, err := x.c.Prepare(text)
	if err != nil {
		return x.explain(err)
	}
	if s == nil {
		return errNoStatement
	}
	defer s.Finalize()
	if cut(rest) != "" {
		return said("what declares it is more than one statement")
	}
	return drain(s)
}

// shadows are the tables that virtual tables keep their rows in.
func (x *execution) shadows() (names []string, err error) {
	x.c.SetAuthorizer(nil)
	defer x.c.SetAuthorizer(x.policy.allow)
	err = x.c.Query(`SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'shadow'`, nil, func(s *raw.Stmt) error {
		names = append(names, s.Text(0))
		return nil
	})
	return names, err
}

// tableCount is the number of tables that people made.
func (x *execution) tableCount() (n int64) {
	x.c.SetAuthorizer(nil)
	defer x.c.SetAuthorizer(x.policy.allow)
	return pragma(x.c, countTables)
}
