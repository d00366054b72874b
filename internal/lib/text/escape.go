package text

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON returns a writer to w of JSON: hidden characters, which can stand only in its strings, are
// written as escapes, so that the document says the same and can be shown on a terminal. Each
// Write must end between two characters. It may be used by one goroutine at a time.
func JSON(w io.Writer) io.Writer { return escaper{w, pair} }

// YAML is JSON for a document in YAML, whose strings with hidden characters must be in double
// quotes.
func YAML(w io.Writer) io.Writer { return escaper{w, long} }

// escaper writes hidden characters as form returns them.
type escaper struct {
	to   io.Writer
	form func(rune) string
}

// EscapeJSON returns a JSON text with its hidden characters as escapes.
func EscapeJSON(s string) string { return escape(s, pair) }

// EscapeYAML is EscapeJSON for a reader of YAML.
func EscapeYAML(s string) string { return escape(s, long) }

// Write writes all of p or returns an error.
func (e escaper) Write(p []byte) (int, error) {
	if _, err := io.WriteString(e.to, escape(string(p), e.form)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// escape keeps bytes that are no UTF-8.
func escape(s string, form func(rune) string) string {
	if !strings.ContainsFunc(s, isEscaped) {
		return s
	}
	var out strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if isEscaped(r) {
			out.WriteString(form(r))
		} else {
			out.WriteString(s[:size])
		}
		s = s[size:]
	}
	return out.String()
}

// isEscaped reports whether r is hidden and has no meaning between the parts of a document.
func isEscaped(r rune) bool { return IsHidden(r) && r != '\n' && r != '\t' && r != '\r' }

// pair is a character in JSON: one beyond 16 bits is two.
func pair(r rune) string {
	var out strings.Builder
	for _, unit := range utf16.Encode([]rune{r}) {
		fmt.Fprintf(&out, `\u%04x`, unit)
	}
	return out.String()
}

// long is a character in YAML.
func long(r rune) string { return fmt.Sprintf(`\U%08x`, r) }
