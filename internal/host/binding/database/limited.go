package database

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
)

// D1's engine is built with SQLITE_ENABLE_UPDATE_DELETE_LIMIT: DELETE and
// UPDATE end with ORDER BY and LIMIT there. That is a matter of the grammar, so
// no switch gives it to an engine built without. A statement that this one
// refuses at such a clause is therefore written as what D1's engine makes of it
// internally:
//
//	DELETE FROM t WHERE rowid IN (SELECT rowid FROM t WHERE … ORDER BY … LIMIT …) RETURNING …
//
// The engine has read all up to the clause by then and found no fault, which is
// why finding the clauses takes no parser.

// statement is a DELETE or UPDATE that ends with such a clause, in the order of
// its parts. Each is an index into tokens, or len(tokens) if absent.
type statement struct {
	text   string
	tokens []token
	end    int // offset of the semicolon, or of the end of text

	with      bool
	update    bool
	table     int // its name
	set       int
	from      int
	where     int
	returning int
	tail      int // ORDER or LIMIT
	limit     int
	stray     int // what ends the tail before its time, as a parenthesis that opens nowhere
}

// limitable takes the first statement of text apart if it is a DELETE or UPDATE
// with ORDER BY or LIMIT.
func limitable(text string) (s statement, ok bool) {
	s = statement{text: text}
	s.tokens, s.end = tokens(text)
	none := len(s.tokens)
	s.set, s.from, s.where, s.returning, s.tail, s.limit, s.stray = none, none, none, none, none, none, none
	verb := slices.IndexFunc(s.tokens, func(t token) bool {
		return t.depth == 0 && s.is(t, "delete", "update", "insert", "replace", "select", "values", "create")
	})
	if verb < 0 || !s.is(s.tokens[verb], "delete", "update") {
		return s, false
	}
	s.with = slices.ContainsFunc(s.tokens[:verb], func(t token) bool { return s.is(t, "with") })
	s.update = s.is(s.tokens[verb], "update")
	s.table = verb + 1
	switch {
	case !s.update: // FROM
		s.table++
	case s.at(s.table, "or"): // and what to do
		s.table += 2
	}
	for i := s.table; i < none; i++ {
		s.clause(i)
	}
	return s, s.table < s.tail && s.tail < none
}

// clause notes token i if a clause begins there.
func (s *statement) clause(i int) {
	t, none := s.tokens[i], len(s.tokens)
	switch {
	case s.tail < none:
		s.inTail(i)
	case t.depth != 0:
	case s.is(t, "set") && s.set == none:
		s.set = i
	case s.is(t, "from") && s.set < none && s.where == none && !s.at(i-1, "distinct"):
		s.from = min(s.from, i)
	case s.is(t, "where"):
		s.where = i
	case s.is(t, "returning"):
		s.returning = i
	case s.is(t, "order", "limit"):
		s.tail = i
		if s.is(t, "limit") {
			s.limit = i
		}
	}
}

// inTail notes token i, which follows ORDER or LIMIT.
func (s *statement) inTail(i int) {
	t, none := s.tokens[i], len(s.tokens)
	switch {
	case s.stray < none:
	case t.depth < 0, t.depth == 0 && s.is(t, "union", "intersect", "except"):
		s.stray = i
	case t.depth == 0 && s.is(t, "limit"):
		s.limit = min(s.limit, i)
	}
}

// is reports that t is one of words, which are in lower case.
func (s *statement) is(t token, words ...string) bool {
	return t.kind == word && slices.Contains(words, strings.ToLower(s.text[t.from:t.to]))
}

func (s *statement) at(i int, w string) bool { return i < len(s.tokens) && s.is(s.tokens[i], w) }

// next is where the clause before the first of the clauses ends.
func (s *statement) next(clauses ...int) int {
	return slices.Min(append(clauses, s.tail))
}

// name gives the table's name, and what it is called in expressions: its alias
// or that name, unchanged.
func (s *statement) name() (table, called string) {
	i := s.table
	if s.qualified() {
		i += 2
	}
	called = s.part(i, i+1)
	table = unquote(called)
	if s.at(i+1, "as") && i+2 < len(s.tokens) {
		called = s.part(i+2, i+3)
	}
	return table, called
}

// qualified reports that a schema's name is before the table's.
func (s *statement) qualified() bool { return s.part(s.table+1, s.table+2) == "." }

// part is the text of tokens i to j, without what is around them.
func (s *statement) part(i, j int) string {
	if i >= j || i >= len(s.tokens) {
		return ""
	}
	return s.text[s.tokens[i].from:s.tokens[j-1].to]
}

// limited compiles the first statement of text, which the engine refused for
// cause. Unless that was an ORDER BY or LIMIT that D1 takes, it gives cause.
func (x *execution) limited(text string, cause error) (prepared *raw.Stmt, rest string, err error) {
	var refusal *raw.Error
	if !errors.As(cause, &refusal) || !isSyntax(refusal) {
		return nil, "", cause
	}
	s, ok := limitable(text)
	if !ok || s.tokens[s.tail].from != refusal.Offset || !x.complete(text[:refusal.Offset]) {
		return nil, "", cause
	}
	table, called := s.name()
	key, err := x.rowKey(table)
	if err != nil {
		return nil, "", err
	}
	w := s.rewrite(key, called)
	prepared, _, err = x.c.Cached(w.out.String())
	if err = w.explain(err); err != nil {
		if prepared != nil {
			prepared.Finalize()
		}
		return nil, "", err
	}
	return prepared, text[min(s.end+1, len(text)):], nil
}

// complete reports that text is a whole statement, be it right or wrong.
func (x *execution) complete(text string) bool {
	s, _, err := x.c.Prepare(text)
	if s != nil {
		s.Finalize()
	}
	var e *raw.Error
	return !errors.As(err, &e) || !isSyntax(e)
}

// isSyntax reports that e is about the words of a statement, not their sense.
func isSyntax(e *raw.Error) bool {
	return strings.HasSuffix(e.Message, ": syntax error") || strings.HasPrefix(e.Message, "unrecognized token: ") || e.Message == "incomplete input"
}

// rowKey gives the columns that tell the rows of table apart, for the engine to
// read. A table that is not there is the engine's to report.
func (x *execution) rowKey(table string) ([]string, error) {
	x.c.SetAuthorizer(nil)
	t, err := shapeOf(x.c, table)
	x.c.SetAuthorizer(x.policy.allow)
	switch {
	case err != nil:
		return nil, err
	case t.kind == "":
		return []string{"rowid"}, nil
	case t.kind == "view":
		return nil, x.viewError(table)
	case t.key == nil:
		return nil, &raw.Error{Code: raw.Generic, Offset: -1, Message: "LIMIT on a table whose columns take every name of the rowid: " + table}
	}
	return t.key, nil
}

// viewError says why rows of a view cannot be limited: they have no identity.
func (x *execution) viewError(view string) error {
	s, _, err := x.c.Prepare("DELETE FROM " + quoteName(view))
	if err != nil { // there is no trigger for it either
		return err
	}
	s.Finalize()
	return &raw.Error{Code: raw.Generic, Offset: -1, Message: fmt.Sprintf("LIMIT on a view is not supported: %s", view)}
}
