package esbuild

import (
	"regexp"
	"slices"
	"strings"

	"github.com/svcctl/svcctl/internal/bundle"
)

// defaultRules are wrangler's.
func defaultRules() []Rule {
	return []Rule{
		{Type: bundle.Text, Globs: []string{"**/*.txt", "**/*.html", "**/*.sql"}},
		{Type: bundle.Data, Globs: []string{"**/*.bin"}},
		{Type: bundle.Wasm, Globs: []string{"**/*.wasm", "**/*.wasm?module"}},
	}
}

// rules are compiled. A glob is matched against import paths, where * also
// stands for slashes, and against files below the base directory, where it
// does not.
type rules struct {
	active  []compiledRule
	removed []compiledRule // ended by an earlier rule of their type
}

type compiledRule struct {
	Rule
	imports, files []*regexp.Regexp
}

func compileRules(user []Rule) rules {
	var r rules
	done := map[bundle.ModuleType]bool{}
	for _, rule := range slices.Concat(user, defaultRules()) {
		c := compiledRule{Rule: rule}
		for _, glob := range rule.Globs {
			c.imports = append(c.imports, globPattern(glob, false))
			c.files = append(c.files, globPattern(glob, true))
		}
		if done[rule.Type] {
			r.removed = append(r.removed, c)
			continue
		}
		r.active = append(r.active, c)
		done[rule.Type] = !rule.Fallthrough
	}
	return r
}

// isScript is true for types that esbuild bundles unless told to find files.
func isScript(t bundle.ModuleType) bool { return t == bundle.ESModule || t == bundle.CommonJS }

func matchAny(patterns []*regexp.Regexp, s string) bool {
	return slices.ContainsFunc(patterns, func(p *regexp.Regexp) bool { return p.MatchString(s) })
}

// forImport finds the type of an import path. ended is true when only a rule
// that is out of force names it.
func (r rules) forImport(path string) (t bundle.ModuleType, ended bool) {
	match := func(c compiledRule) bool { return !isScript(c.Type) && matchAny(c.imports, path) }
	if i := slices.IndexFunc(r.active, match); i >= 0 {
		return r.active[i].Type, false
	}
	return "", slices.ContainsFunc(r.removed, match)
}

// forFile finds the type of a file by its path below the base directory.
func (r rules) forFile(path string) bundle.ModuleType {
	for _, c := range r.active {
		if matchAny(c.files, path) {
			return c.Type
		}
	}
	return ""
}

// globPattern compiles a glob in which only * is special, as in wrangler. With
// globstar, ** stands for directories and * stays inside one.
func globPattern(glob string, globstar bool) *regexp.Regexp {
	var b strings.Builder
	b.WriteString("^")
	for i := 0; i < len(glob); {
		stars := len(glob[i:]) - len(strings.TrimLeft(glob[i:], "*"))
		whole := (i == 0 || glob[i-1] == '/') && stars > 1
		switch {
		case stars == 0:
			b.WriteString(regexp.QuoteMeta(glob[i : i+1]))
			i++
			continue
		case !globstar:
			b.WriteString(".*")
		case whole && i+stars < len(glob) && glob[i+stars] == '/':
			b.WriteString("(?:[^/]*/)*")
			i++ // the slash is part of it
		case whole && i+stars == len(glob):
			b.WriteString(".*")
		default:
			b.WriteString("[^/]*")
		}
		i += stars
	}
	b.WriteString("$")
	// Bytes are quoted one by one; a name's multi-byte letters stay together.
	return regexp.MustCompile(b.String())
}
