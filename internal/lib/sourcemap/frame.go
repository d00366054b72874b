package sourcemap

import (
	"fmt"
	"strings"
)

// around is how many lines a frame shows before and after its line.
const around = 2

// Frame shows the line of a place and those around it, under the name of the place. Column 0 marks
// no column. It is "" for a place whose source is not known.
func Frame(p Position) string {
	if p.Content == "" {
		return ""
	}
	line, column, lines := p.Line, p.Column, strings.Split(p.Content, "\n")
	var out strings.Builder
	fmt.Fprintf(&out, "%s:%d", p.Source, line)
	if column > 0 {
		fmt.Fprintf(&out, ":%d", column)
	}
	for n := max(1, line-around); n <= min(len(lines), line+around); n++ {
		text := strings.TrimRight(lines[n-1], "\r")
		if len(text) > maxLine {
			text = text[:maxLine]
		}
		mark := " "
		if n == line {
			mark = ">"
		}
		fmt.Fprintf(&out, "\n%s %4d | %s", mark, n, text)
		if n == line && column > 0 && column <= len(text)+1 {
			fmt.Fprintf(&out, "\n       | %s^", blanks(text[:column-1]))
		}
	}
	return out.String()
}

// maxLine is how much of a source line a frame shows, in bytes.
const maxLine = 160

// blanks is as wide as text on a terminal.
func blanks(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, text)
}
