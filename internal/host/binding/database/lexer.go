package database

import (
	"strconv"
	"strings"
)

// tokenKind tells tokens apart as far as this package needs it.
type tokenKind int

const (
	symbol     tokenKind = iota // one byte, or a number
	word                        // a keyword or a bare name
	quotedName                  // "a", `a` or [a]
	literal                     // 'a'
	parameter                   // ?, ?7, :a, @a or $a
	broken                      // a quote without an end: it goes to the end of the text
)

// token is one token of SQL: text[from:to].
type token struct {
	kind     tokenKind
	from, to int
	depth    int // of parentheses around it; a closing one is outside
}

// tokens splits the first statement of text as the engine does, up to its
// semicolon or the end, and gives the offset of that. Spaces and comments are
// no tokens.
func tokens(text string) (list []token, end int) {
	depth := 0
	for at := 0; at < len(text); {
		if next := blank(text, at); next > at {
			at = next
			continue
		}
		if text[at] == ';' || text[at] == 0 {
			return list, at
		}
		t := lex(text, at)
		if text[at] == ')' {
			depth--
		}
		t.depth = depth
		if text[at] == '(' {
			depth++
		}
		list = append(list, t)
		at = t.to
	}
	return list, len(text)
}

// blank is the end of the space or comment at at, or at.
func blank(text string, at int) int {
	switch rest := text[at:]; {
	case isSpace(text[at]):
		return at + 1
	case strings.HasPrefix(rest, "--"):
		return at + until(rest, "\n")
	case strings.HasPrefix(rest, "/*") && len(rest) > 2:
		return at + 2 + until(rest[2:], "*/")
	}
	return at
}

// lex reads the token at at.
func lex(text string, at int) token {
	t := token{kind: symbol, from: at, to: at + 1}
	switch c := text[at]; {
	case c == '\'' || c == '"' || c == '`' || c == '[':
		t.kind, t.to = quoted(text, at)
	case c == '?':
		t.kind, t.to = parameter, span(text, at+1, isDigit)
	case c == ':' || c == '@' || c == '$':
		if to := span(text, at+1, isNameByte); to > at+1 {
			t.kind, t.to = parameter, to
		}
	case isDigit(c):
		t.to = span(text, at, isNameByte)
	case isNameByte(c):
		t.kind, t.to = word, span(text, at, isNameByte)
	}
	return t
}

// quoted reads the quoted token at at. A quote that is doubled is part of it.
func quoted(text string, at int) (kind tokenKind, to int) {
	kind = quotedName
	closing := text[at]
	switch closing {
	case '[':
		closing = ']'
	case '\'':
		kind = literal
	}
	for i := at + 1; i < len(text); i++ {
		if text[i] != closing {
			continue
		}
		if closing == ']' || i+1 == len(text) || text[i+1] != closing {
			return kind, i + 1
		}
		i++
	}
	return broken, len(text)
}

// span is the offset from at on of the first byte that is not of a class.
func span(text string, at int, class func(byte) bool) int {
	for at < len(text) && class(text[at]) {
		at++
	}
	return at
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isNameByte(c byte) bool {
	return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == '$' || c >= 0x80
}

// unquote is the name that a word or a quoted name of text stands for.
func unquote(name string) string {
	if len(name) < 2 {
		return name
	}
	switch c := name[0]; c {
	case '"', '`', '\'':
		return strings.ReplaceAll(name[1:len(name)-1], string([]byte{c, c}), string(c))
	case '[':
		return name[1 : len(name)-1]
	}
	return name
}

// quoteName writes name so that it is a name for the engine whatever it holds.
func quoteName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// numbers gives the number that the engine gives each parameter of text among
// list, by its offset.
func numbers(text string, list []token) map[int]int {
	byOffset, byName, highest := map[int]int{}, map[string]int{}, 0
	for _, t := range list {
		if t.kind != parameter {
			continue
		}
		name := text[t.from:t.to]
		n, known := byName[name]
		switch explicit, err := strconv.Atoi(name[1:]); {
		case name == "?":
			n = highest + 1
		case name[0] == '?' && err == nil:
			n = explicit
		case !known:
			n = highest + 1
			byName[name] = n
		}
		highest = max(highest, n)
		byOffset[t.from] = n
	}
	return byOffset
}
