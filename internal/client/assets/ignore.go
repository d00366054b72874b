package assets

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// ignore are the lines of an .assetsignore, in the syntax of .gitignore.
type ignore []ignoreLine

type ignoreLine struct {
	text    string // of the pattern
	re      *regexp.Regexp
	not     bool // the line takes paths back
	dirOnly bool
}

// parseIgnore reads lines. One that is no pattern matches nothing.
func parseIgnore(text string) ignore {
	var list ignore
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if line = trimSpaces(line); line == "" || line[0] == '#' {
			continue
		}
		var l ignoreLine
		line, l.not = strings.CutPrefix(line, "!")
		if line, l.dirOnly = strings.CutSuffix(line, "/"); line == "" {
			continue
		}
		if re, err := regexp.Compile(ignorePattern(line)); err == nil {
			l.re, l.text = re, strings.TrimPrefix(line, "/")
			list = append(list, l)
		}
	}
	return list
}

// trimSpaces removes spaces at the end that no backslash keeps.
func trimSpaces(line string) string {
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = line[:len(line)-1]
	}
	return line
}

// ignorePattern is the regular expression of one line. A line with a slash inside is
// about paths from the root, any other about names anywhere.
func ignorePattern(line string) string {
	var b strings.Builder
	b.WriteString(`^(?:.*/)?`)
	if strings.Contains(line, "/") {
		b.Reset()
		b.WriteString(`^`)
		line = strings.TrimPrefix(line, "/")
	}
	for i := 0; i < len(line); i++ {
		rest := line[i:]
		switch {
		case strings.HasPrefix(rest, "**/"):
			b.WriteString(`(?:.*/)?`)
			i += 2
		case strings.HasPrefix(rest, "**"):
			b.WriteString(`.*`)
			i++
		case rest[0] == '*':
			b.WriteString(`[^/]*`)
		case rest[0] == '?':
			b.WriteString(`[^/]`)
		case rest[0] == '[' && strings.Contains(rest, "]"):
			class := rest[1:strings.Index(rest, "]")]
			i += len(class) + 1
			if after, not := strings.CutPrefix(class, "!"); not {
				class = "^" + after
			}
			b.WriteString(`[` + strings.ReplaceAll(class, `\`, `\\`) + `]`)
		case rest[0] == '\\' && len(rest) > 1:
			b.WriteString(regexp.QuoteMeta(rest[1:2]))
			i++
		default:
			b.WriteString(regexp.QuoteMeta(rest[:1]))
		}
	}
	return b.String() + `$`
}

// match reports whether a name, with slashes and relative to the directory, is ignored, and whether a
// line says so. The caller skips the content of an ignored directory.
func (list ignore) match(name string, isDir bool) (ignored, by bool) {
	for _, l := range slices.Backward(list) {
		if (isDir || !l.dirOnly) && l.re.MatchString(name) {
			return !l.not, true
		}
	}
	return false, false
}

// takesBackIn reports whether a line takes back something in a directory.
func (list ignore) takesBackIn(dir string) bool {
	return slices.ContainsFunc(list, func(l ignoreLine) bool {
		return l.not && (strings.HasPrefix(l.text, dir+"/") || strings.HasPrefix(l.text, "**/"+path.Base(dir)+"/"))
	})
}
