package esbuild

import (
	"fmt"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/svcctl/svcctl/internal/svc"
)

const (
	maxReported = 10
)

// failure makes one error of all messages. dir is the directory that their files are relative to.
func failure(dir string, messages []api.Message) error {
	var parts []string
	for i, m := range messages {
		if i == maxReported {
			parts = append(parts, fmt.Sprintf("and %d more", len(messages)-maxReported))
			break
		}
		parts = append(parts, describe(dir, m))
	}
	return svc.Errorf(svc.Unprocessable, svc.CodeBuildFailed, "the worker does not build\n%s", strings.Join(parts, "\n"))
}

// describe writes a message as compilers do, with the line it is about:
//
//	src/index.ts:3:7: Could not resolve "hono"
//	    3 | import { Hono } from "hono"
//	      |                      ~~~~~~
func describe(dir string, m api.Message) string {
	var b strings.Builder
	if l := m.Location; l != nil {
		fmt.Fprintf(&b, "%s:%d:%d: ", l.File, l.Line, l.Column+1)
	}
	b.WriteString(m.Text)
	excerpt(&b, m.Location)
	for _, n := range notes(dir, m) {
		b.WriteString("\n  ")
		if l := n.Location; l != nil {
			fmt.Fprintf(&b, "%s:%d:%d: ", l.File, l.Line, l.Column+1)
		}
		b.WriteString(n.Text)
	}
	return b.String()
}

const maxExcerpt = 160 // bytes; minified files have lines of megabytes

func excerpt(b *strings.Builder, l *api.Location) {
	if l == nil || l.LineText == "" || len(l.LineText) > maxExcerpt {
		return
	}
	number := fmt.Sprintf("%5d", l.Line)
	col := min(l.Column, len(l.LineText))
	indent := strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, l.LineText[:col])
	mark := strings.Repeat("~", max(1, min(l.Length, len(l.LineText)-col)))
	fmt.Fprintf(b, "\n%s | %s\n%s | %s%s", number, l.LineText, strings.Repeat(" ", len(number)), indent, mark)
}

// notes replaces the advice that fits esbuild's own users by advice that fits
// ours.
func notes(dir string, m api.Message) []api.Note {
	var advice string
	var kept []api.Note
	switch path, unresolved := quoted(m.Text, "Could not resolve "); {
	case unresolved:
		advice = resolveAdvice(path)
		if p, ok := packageOf(dir, m, path); ok {
			kept, advice = p.notes(m), p.advice(m)
		}
	case strings.HasPrefix(m.Text, "No loader is configured for "):
		advice = `add a rule for such files to the project file, for instance { "type": "Text", "globs": ["**/*.ext"], "fallthrough": true }`
	default:
		return m.Notes
	}
	if advice == "" {
		return kept
	}
	return append(kept, api.Note{Text: advice})
}

func resolveAdvice(path string) string {
	_, prefixed, ok := builtin(path)
	switch {
	case ok && prefixed:
		return needsNode
	case ok:
		return needsNode + `; or install an npm package of that name`
	case strings.HasPrefix(path, "."), strings.HasPrefix(path, "/"):
		return ""
	case strings.HasPrefix(path, "virtual:"):
		return "the framework's own build makes it: build the project first (npm run build), and again after changes"
	}
	return "is it installed? run the package manager of the project (npm install), or set an alias in the project file"
}

const needsNode = `it is a module of Node: add the compatibility flag "nodejs_compat", with a compatibility_date of 2024-09-23 or later`

func quoted(text, prefix string) (string, bool) {
	rest, ok := strings.CutPrefix(text, prefix)
	if !ok || len(rest) < 2 || rest[0] != '"' {
		return "", false
	}
	path, _, ok := strings.Cut(rest[1:], `"`)
	return path, ok
}

func describeAll(dir string, messages []api.Message) []string {
	var list []string
	for _, m := range messages {
		list = append(list, describe(dir, m))
	}
	return list
}
