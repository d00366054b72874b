package build

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/svcctl/svcctl/internal/lib/sourcemap"
)

var (
	builtPlace     = regexp.MustCompile(`([\w./-]+\.m?js):(\d+):(\d+)`)
	migrationPlace = regexp.MustCompile(`migration (\S+) of \S+: line (\d+)`)
)

// Explain returns text with places of the built worker replaced by those of the sources, and
// with the source lines of the first one.
func (r *Result) Explain(text string) string {
	text, shown := r.inSources(text)
	if shown == "" {
		return text
	}
	return text + "\n\n" + shown
}

// InSources returns text with places of the built worker replaced by those of the sources.
func (r *Result) InSources(text string) string {
	text, _ = r.inSources(text)
	return text
}

// inSources is InSources, and the source lines of the first place; "" if they are not known.
func (r *Result) inSources(text string) (replaced, shown string) {
	if m := migrationPlace.FindStringSubmatch(text); m != nil {
		shown = r.migrationFrame(m[1], m[2])
	}
	text = builtPlace.ReplaceAllStringFunc(text, func(place string) string {
		p, ok := r.original(place)
		if !ok {
			return place
		}
		if shown == "" && p.Content != "" {
			shown = frame(p.Source, p.Content, p.Line, p.Column)
		}
		return fmt.Sprintf("%s:%d:%d", p.Source, p.Line, p.Column)
	})
	return text, shown
}

// original finds the source of "module.js:line:column".
func (r *Result) original(place string) (sourcemap.Position, bool) {
	m := builtPlace.FindStringSubmatch(place)
	line, _ := strconv.Atoi(m[2]) // the pattern has digits only
	column, _ := strconv.Atoi(m[3])
	for _, mod := range r.Modules {
		if mod.Name != m[1] || mod.SourceMap == nil {
			continue
		}
		parsed, err := sourcemap.Parse(mod.SourceMap)
		if err != nil {
			return sourcemap.Position{}, false
		}
		return parsed.Find(line, column)
	}
	return sourcemap.Position{}, false
}

func (r *Result) migrationFrame(name, line string) string {
	n, err := strconv.Atoi(line)
	if err != nil {
		return ""
	}
	for _, dir := range r.Watch {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if text, err := os.ReadFile(path); err == nil {
			return frame(r.relative(path), string(text), n, 0)
		}
	}
	return ""
}

// around is how many lines a frame shows before and after its line.
const around = 2

// frame shows a line of a source and those around it. column 0 marks none.
func frame(file, content string, line, column int) string {
	lines := strings.Split(content, "\n")
	var out strings.Builder
	fmt.Fprintf(&out, "%s:%d", file, line)
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

// relative is a path as seen from the root of the project.
func (r *Result) relative(path string) string {
	if rel, err := filepath.Rel(r.Config.Root, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}
