package main

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// cell is one character of a screen, in the style of the SGR parameters that were on.
type cell struct {
	r     rune
	style string // "1;32": bold and green; "" for plain
}

// screen is what a terminal shows, with all that scrolled out of it. It knows the sequences
// that the program prints: colors, the ways to redraw a line, and to clear the screen.
type screen struct {
	width    int
	rows     [][]cell
	row, col int
	style    string
	rest     []byte // of a character or sequence that is not complete
}

// print shows what a program prints.
func (s *screen) print(p []byte) {
	data := append(s.rest, p...)
	for len(data) > 0 {
		n := s.take(data)
		if n == 0 {
			break
		}
		data = data[n:]
	}
	s.rest = slices.Clone(data)
}

// take handles what data begins with, and returns its length; 0 if that is not complete.
func (s *screen) take(data []byte) int {
	switch c := data[0]; {
	case c == '\x1b':
		return s.sequence(data)
	case c == '\n':
		s.row, s.col = s.row+1, 0
	case c == '\r':
		s.col = 0
	case c == '\b':
		s.col = max(0, s.col-1)
	case c >= ' ' && utf8.FullRune(data):
		r, n := utf8.DecodeRune(data)
		s.put(r)
		return n
	case c >= ' ':
		return 0
	}
	return 1
}

func (s *screen) put(r rune) {
	if s.col == s.width {
		s.row, s.col = s.row+1, 0
	}
	line := s.line()
	for len(*line) <= s.col {
		*line = append(*line, cell{r: ' '})
	}
	(*line)[s.col] = cell{r, s.style}
	s.col++
}

// line is the line of the cursor.
func (s *screen) line() *[]cell {
	for len(s.rows) <= s.row {
		s.rows = append(s.rows, nil)
	}
	return &s.rows[s.row]
}

// sequence handles an escape sequence.
func (s *screen) sequence(data []byte) int {
	if len(data) < 2 {
		return 0
	}
	if data[1] != '[' {
		return 2
	}
	end := slices.IndexFunc(data[2:], func(c byte) bool { return c >= '@' && c <= '~' })
	if end < 0 {
		return 0
	}
	s.control(data[2+end], string(data[2:2+end]))
	return end + 3
}

func (s *screen) control(final byte, parameters string) {
	switch final {
	case 'm':
		s.style = strings.TrimPrefix(parameters, "0")
	case 'K':
		if line := s.line(); len(*line) > s.col {
			*line = (*line)[:s.col]
		}
	case 'A':
		n, _ := strconv.Atoi(parameters)
		s.row = max(0, s.row-max(1, n))
	case 'J':
		s.rows = nil
	case 'H':
		s.row, s.col = 0, 0
	}
}

// String is the text of the screen, without spaces at the ends of lines.
func (s *screen) String() string {
	var b strings.Builder
	for _, row := range s.rows {
		b.WriteString(strings.TrimRight(text(row), " ") + "\n")
	}
	return b.String()
}

func text(row []cell) string {
	var b strings.Builder
	for _, c := range row {
		b.WriteRune(c.r)
	}
	return b.String()
}
