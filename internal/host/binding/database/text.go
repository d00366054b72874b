package database

import "strings"

// cut removes what follows the last statement of text: its semicolon, and spaces, semicolons
// and comments after that. Comments before the semicolon are a part of the statement: the
// engine has them in names of columns. It gives "" for a text without a statement.
func cut(text string) string {
	last, ended := 0, true // the end of the last statement, and whether it is known
	for i := 0; i < len(text); i++ {
		next, code := skip(text, i)
		switch {
		case code:
			last, ended = len(text), false
		case text[i] == ';' && !ended:
			last, ended = i, true
		}
		i = next
	}
	return text[:last]
}

// skip gives the index of the last byte of the comment, the quoted text or the
// byte at i, and whether it is part of a statement.
func skip(text string, i int) (end int, code bool) {
	var closing byte
	switch c := text[i]; {
	case c == '-' && strings.HasPrefix(text[i:], "--"):
		return i + until(text[i:], "\n") - 1, false
	case c == '/' && strings.HasPrefix(text[i:], "/*"):
		return i + 2 + until(text[min(i+2, len(text)):], "*/") - 1, false
	case c == '\'' || c == '"' || c == '`':
		closing = c
	case c == '[':
		closing = ']'
	default:
		return i, !isSpace(c) && c != ';'
	}
	return i + 1 + until(text[i+1:], string(closing)) - 1, true
}

// until is the number of bytes of text up to and with mark, or all.
func until(text, mark string) int {
	if at := strings.Index(text, mark); at >= 0 {
		return at + len(mark)
	}
	return len(text)
}

func isSpace(c byte) bool {
	return c == ' ' || c >= '\t' && c <= '\r'
}

// begin is the offset from at on where something other than spaces, comments
// and semicolons begins.
func begin(text string, at int) int {
	for at < len(text) {
		end, code := skip(text, at)
		if code {
			break
		}
		at = end + 1
	}
	return min(at, len(text))
}

// keyword is the first word of text, in lower case.
func keyword(text string) string {
	start := begin(text, 0)
	end := start
	for end < len(text) && (text[end]|0x20 >= 'a' && text[end]|0x20 <= 'z') {
		end++
	}
	return strings.ToLower(text[start:end])
}
