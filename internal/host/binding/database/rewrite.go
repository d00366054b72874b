package database

import (
	"errors"
	"fmt"
	"sort"
	"strings"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
)

// rewritten is a statement with its ORDER BY and LIMIT moved into a subquery,
// and where its parts came from.
type rewritten struct {
	of      statement
	out     strings.Builder
	copied  []copied
	numbers map[int]int // of parameters that must be written out, by their offset
}

// copied says that the text at out came from offset in, size bytes.
type copied struct{ out, in, size int }

// rewrite writes s for an engine without these clauses. key are the columns
// that tell the table's rows apart.
func (s *statement) rewrite(key []string, called string) *rewritten {
	w := &rewritten{of: *s}
	none := len(s.tokens)
	joined := s.from < none
	if joined || s.returning < none { // parts change places, or are there twice
		w.numbers = numbers(s.text, s.tokens)
	}
	columns := strings.Join(key, ", ")
	if joined { // columns of other tables may have that name
		columns = called + "." + strings.Join(key, ", "+called+".")
	}
	before := s.next(s.set, s.where, s.returning)
	hint := s.indexedBy(before)
	w.copy(0, hint)
	w.copy(before, s.next(s.where, s.returning))
	w.say(" WHERE ")
	if joined && s.where < none {
		w.say("(")
		w.copy(s.where+1, s.next(s.returning))
		w.say(") AND ")
	}
	w.say("(" + columns + ") IN (SELECT " + columns + " FROM ")
	if s.with && !s.qualified() {
		w.say(" main.") // the name may be another thing's
	}
	w.copy(s.table, before)
	if joined {
		w.say(", ")
		w.copy(s.from+1, s.next(s.where, s.returning))
	}
	w.copy(s.where, s.next(s.returning))
	if joined {
		w.say(" GROUP BY " + columns)
	}
	w.copy(s.tail, s.stray)
	if none > 0 && s.tokens[none-1].kind == broken {
		return w // the engine names the token, up to the end
	}
	w.say(")")
	w.copy(s.returning, s.tail)
	return w
}

// indexedBy is where INDEXED BY begins in the table's part, or its end: that
// belongs to the subquery alone.
func (s *statement) indexedBy(end int) int {
	for i := s.table + 1; i < end; i++ {
		if s.at(i, "indexed") && s.at(i+1, "by") {
			return i
		}
	}
	return end
}

// say writes text of its own.
func (w *rewritten) say(text string) { w.out.WriteString(text) }

// copy writes tokens i to j unchanged, except for parameters that need their
// numbers.
func (w *rewritten) copy(i, j int) {
	if i >= j {
		return
	}
	w.say(" ")
	from := w.of.tokens[i].from
	for _, t := range w.of.tokens[i:j] {
		n, numbered := w.numbers[t.from]
		if t.kind != parameter || !numbered {
			continue
		}
		w.take(from, t.from)
		w.say(fmt.Sprintf("?%d", n))
		from = t.to
	}
	w.take(from, w.of.tokens[j-1].to)
}

// take writes the text from from to to.
func (w *rewritten) take(from, to int) {
	w.copied = append(w.copied, copied{w.out.Len(), from, to - from})
	w.say(w.of.text[from:to])
}

// origin is the offset in the statement of what is at offset; -1 when it is not
// from there.
func (w *rewritten) origin(offset int) int {
	i := sort.Search(len(w.copied), func(i int) bool { return w.copied[i].out > offset }) - 1
	if i < 0 || offset >= w.copied[i].out+w.copied[i].size {
		return -1
	}
	return offset - w.copied[i].out + w.copied[i].in
}

// explain is the error that D1's engine has for the statement, err being the
// one for what was written instead.
func (w *rewritten) explain(err error) error {
	s, none := &w.of, len(w.of.tokens)
	var e *raw.Error
	if err != nil && !errors.As(err, &e) {
		return err
	}
	syntax := e != nil && isSyntax(e)
	if e != nil && e.Offset >= 0 {
		e.Offset = w.origin(e.Offset)
	}
	switch {
	case syntax && e.Offset >= 0, e != nil && strings.HasPrefix(e.Message, "no such table"):
		return e
	case s.stray < none:
		return unexpected(s.part(s.stray, s.stray+1), s.tokens[s.stray].from)
	case syntax && s.end < len(s.text) && s.text[s.end] == ';':
		return unexpected(";", s.end)
	case syntax:
		return &raw.Error{Code: raw.Generic, Message: "incomplete input", Offset: -1}
	case s.limit == none && s.update:
		return &raw.Error{Code: raw.Generic, Message: "ORDER BY without LIMIT on UPDATE", Offset: -1}
	case s.limit == none:
		return &raw.Error{Code: raw.Generic, Message: "ORDER BY without LIMIT on DELETE", Offset: -1}
	}
	return err
}

func unexpected(token string, at int) error {
	return &raw.Error{Code: raw.Generic, Message: fmt.Sprintf(`near "%s": syntax error`, token), Offset: at}
}
