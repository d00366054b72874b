package dev

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/svcctl/svcctl/internal/client/build"
	"github.com/svcctl/svcctl/internal/client/front"
	"github.com/svcctl/svcctl/internal/lib/sourcemap"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/client"
)

// problemOf is why a save is not served, with the lines of the source that it is
// about. b is nil if the build failed.
func problemOf(err error, b *build.Result) *front.Problem {
	var failed *client.VersionError
	var own *svc.Error
	switch {
	case errors.As(err, &failed):
		return failedDeploy(failed, b)
	case errors.As(err, &own):
		return ownProblem(own)
	}
	return &front.Problem{Code: svc.CodeFailed, Title: "The save is not served", Detail: err.Error()}
}

// ownProblem explains an error of this program: its first line is the title.
func ownProblem(e *svc.Error) *front.Problem {
	p := &front.Problem{Code: e.Code}
	p.Title, p.Detail = firstLine(e.Detail)
	for _, f := range e.Fields {
		p.Detail += "\n" + f.Detail
	}
	if e.Hint != "" {
		p.Detail += "\n" + e.Hint
	}
	p.Detail = strings.Trim(p.Detail, "\n")
	return p
}

// firstLine lays a text of several lines out.
func firstLine(text string) (first, rest string) {
	first, rest, _ = strings.Cut(text, "\n")
	return first, rest
}

// failedDeploy explains a version that failed.
func failedDeploy(failed *client.VersionError, b *build.Result) *front.Problem {
	v := failed.Version
	code, text := v.ErrorCode, strings.TrimPrefix(v.Error, v.ErrorStep+": "+v.ErrorCode+": ")
	titles := map[string]string{
		svc.CodeStartupException: "The worker throws while it starts",
		svc.CodeMigrationFailed:  "A migration failed",
		svc.CodeSyntaxError:      "The worker has a syntax error",
	}
	p := &front.Problem{Code: code, Title: titles[code], Detail: text}
	if p.Title == "" {
		p.Title = "The version does not start"
	}
	if b != nil {
		p.Detail = withFrames(p.Detail, b)
	}
	if out := v.ErrorOutput; out != "" {
		p.Detail += "\n\noutput of the worker:\n" + indent(out)
	}
	return p
}

func indent(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  ")
}

var (
	builtPlace     = regexp.MustCompile(`([\w./-]+\.m?js):(\d+):(\d+)`)
	migrationPlace = regexp.MustCompile(`migration (\S+) of \S+: line (\d+)`)
)

// withFrames replaces places of the built worker by those of the sources, and adds
// the source lines of the first one.
func withFrames(text string, b *build.Result) string {
	shown := ""
	if m := migrationPlace.FindStringSubmatch(text); m != nil {
		shown = migrationFrame(m[1], m[2], b)
	}
	text = builtPlace.ReplaceAllStringFunc(text, func(place string) string {
		p, ok := original(place, b)
		if !ok {
			return place
		}
		if shown == "" && p.Content != "" {
			shown = frame(p.Source, p.Content, p.Line, p.Column)
		}
		return fmt.Sprintf("%s:%d:%d", p.Source, p.Line, p.Column)
	})
	if shown == "" {
		return text
	}
	return text + "\n\n" + shown
}

// original finds the source of "module.js:line:column".
func original(place string, b *build.Result) (sourcemap.Position, bool) {
	m := builtPlace.FindStringSubmatch(place)
	line, _ := strconv.Atoi(m[2]) // the pattern has digits only
	column, _ := strconv.Atoi(m[3])
	for _, mod := range b.Modules {
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

func migrationFrame(name, line string, b *build.Result) string {
	n, err := strconv.Atoi(line)
	if err != nil {
		return ""
	}
	for _, dir := range b.Watch {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if text, err := os.ReadFile(path); err == nil {
			return frame(relative(b.Config.Root, path), string(text), n, 0)
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

func relative(root, path string) string {
	if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}
