package build

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"

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
			shown = sourcemap.Frame(p)
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
			return sourcemap.Frame(sourcemap.Position{Source: r.relative(path), Content: string(text), Line: n})
		}
	}
	return ""
}

// relative is a path as seen from the root of the project.
func (r *Result) relative(path string) string {
	if rel, err := filepath.Rel(r.Config.Root, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}
