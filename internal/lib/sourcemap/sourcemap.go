package sourcemap

import (
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strings"
)

// Map is a parsed source map. It is immutable.
type Map struct {
	sources  []string
	contents []string // "" for a source without content
	lines    [][]segment
}

// Position is a place in a source file.
type Position struct {
	Source  string // as the map names it: relative to the map's file
	Line    int    // from 1
	Column  int    // from 1, in UTF-16 units
	Content string // of the whole source; "" if the map has none
}

// segment says where the text from a column on comes from.
type segment struct {
	column             int
	source, line, from int // source is -1 for generated text
}

// Parse reads a source map. Index maps (sections) are not supported.
func Parse(data []byte) (*Map, error) {
	var raw struct {
		Version        int       `json:"version"`
		SourceRoot     string    `json:"sourceRoot"`
		Sources        []string  `json:"sources"`
		SourcesContent []*string `json:"sourcesContent"`
		Mappings       string    `json:"mappings"`
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return nil, fmt.Errorf("reading a source map: %w", err)
	}
	if raw.Version != 3 {
		return nil, fmt.Errorf("reading a source map: version %d is not supported", raw.Version)
	}
	m := &Map{contents: make([]string, len(raw.Sources))}
	for i, s := range raw.Sources {
		m.sources = append(m.sources, raw.SourceRoot+s)
		if i < len(raw.SourcesContent) && raw.SourcesContent[i] != nil {
			m.contents[i] = *raw.SourcesContent[i]
		}
	}
	return m, m.decode(raw.Mappings)
}

// decode reads the mappings: lines end with ";", segments with ",". Each number is
// the difference to the one before; columns begin anew in each line.
func (m *Map) decode(mappings string) error {
	var at segment
	for text := range strings.SplitSeq(mappings, ";") {
		var line []segment
		at.column = 0
		for field := range strings.SplitSeq(text, ",") {
			if field == "" {
				continue
			}
			s, err := m.segment(&at, field)
			if err != nil {
				return err
			}
			line = append(line, s)
		}
		m.lines = append(m.lines, line)
	}
	return nil
}

var errMappings = errors.New("reading a source map: its mappings are damaged")

func (m *Map) segment(at *segment, field string) (segment, error) {
	var n [5]int
	count := 0
	for field != "" {
		value, rest, ok := number(field)
		if !ok || count == len(n) {
			return segment{}, errMappings
		}
		n[count], field = value, rest
		count++
	}
	at.column += n[0]
	if count == 1 {
		return segment{column: at.column, source: -1}, nil
	}
	at.source, at.line, at.from = at.source+n[1], at.line+n[2], at.from+n[3]
	if count < 4 || at.column < 0 || at.source < 0 || at.source >= len(m.sources) || at.line < 0 || at.from < 0 {
		return segment{}, errMappings
	}
	return *at, nil
}

const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

// number reads one variable-length quantity: five bits for each digit, the lowest
// first, and the sign in the lowest bit.
func number(s string) (value int, rest string, ok bool) {
	for shift := 0; shift <= 30; shift += 5 {
		if s == "" {
			break
		}
		d := strings.IndexByte(digits, s[0])
		if d < 0 {
			break
		}
		s = s[1:]
		value |= (d & 31) << shift
		if d&32 == 0 {
			if value&1 != 0 {
				return -(value >> 1), s, true
			}
			return value >> 1, s, true
		}
	}
	return 0, "", false
}

// Find returns the source of a place in the built file, with line and column from 1.
// ok is false for generated text.
func (m *Map) Find(line, column int) (p Position, ok bool) {
	if line < 1 || line > len(m.lines) {
		return Position{}, false
	}
	segments := m.lines[line-1]
	i := sort.Search(len(segments), func(i int) bool { return segments[i].column > column-1 }) - 1
	if i < 0 || segments[i].source < 0 {
		return Position{}, false
	}
	s := segments[i]
	return Position{Source: m.sources[s.source], Line: s.line + 1, Column: s.from + 1, Content: m.contents[s.source]}, true
}
