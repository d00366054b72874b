package esbuild

import (
	"regexp"
	"slices"
	"strings"
)

// The default export of a module that esbuild wrote, and what begins a property of an object.
var (
	defaultExport = regexp.MustCompile(`(?m)^  ([\w$]+) as default,?$`)
	property      = regexp.MustCompile(`^\s*(?:async\s+)?(?:\*\s*)?"?([\w$]+)"?\s*[(:,}]`)
	beforePattern = regexp.MustCompile(`(?:^|[(,=:[!&|?{};+*%<>~^-]|\b(?:return|typeof|case|in|of|delete|void|throw|await|yield))\s*$`)
)

// handlerNames are what a worker's default export may have.
//
//nolint:gochecknoglobals // a constant table
var handlerNames = []string{"fetch", "scheduled", "queue", "email", "tail", "tailStream", "trace"}

// Handlers returns the handlers of the default export of a module that esbuild wrote without
// minifying; known is false unless the export is an object whose properties are all written out.
func Handlers(module []byte) (names []string, known bool) {
	text := string(module)
	export := defaultExport.FindStringSubmatch(text)
	if export == nil {
		return nil, false
	}
	name := export[1]
	_, value, ok := strings.Cut(text, "\nvar "+name+" = ")
	if alias, _, _ := strings.Cut(value, ";\n"); ok && strings.Contains(text, "\nvar "+alias+" = {") {
		_, value, ok = strings.Cut(text, "\nvar "+alias+" = ")
	}
	if !ok || !strings.HasPrefix(value, "{") {
		return nil, false
	}
	keys, known := propertiesOf(value)
	return slices.DeleteFunc(keys, func(key string) bool { return !slices.Contains(handlerNames, key) }), known
}

// propertiesOf are the names of the properties of an object that text begins with. known is false for a
// spread, a computed name, and code that this reader is not sure about: one with regular expressions.
func propertiesOf(text string) (keys []string, known bool) {
	var open []byte // brackets: '$' is one of a template, '`' a template
	for i := 0; i < len(text); i++ {
		c, top := text[i], byte(0)
		if len(open) > 0 {
			top = open[len(open)-1]
		}
		switch {
		case c == '\\' && top == '`':
			i++
		case c == '`' && top == '`', strings.IndexByte(")]}", c) >= 0 && top != '`':
			open = open[:len(open)-1]
		case top == '`' && strings.HasPrefix(text[i:], "${"):
			open, i = append(open, '$'), i+1
		case top == '`':
		case c == '"' || c == '\'':
			i = endOfText(text, i)
		case strings.HasPrefix(text[i:], "/*"):
			i += max(1, strings.Index(text[i:], "*/")+1)
		case strings.HasPrefix(text[i:], "//"):
			i += max(1, strings.IndexByte(text[i:], '\n'))
		case c == '/' && beforePattern.MatchString(text[max(0, i-16):i]):
			return nil, false
		case strings.IndexByte("([{`", c) >= 0:
			open = append(open, c)
		}
		if len(open) == 0 {
			return keys, true
		}
		if len(open) != 1 || c != ',' && i > 0 || c == ',' && closes(text[i+1:]) || i == 0 && closes(text[1:]) {
			continue
		}
		key := property.FindStringSubmatch(text[i+1:])
		if key == nil {
			return nil, false
		}
		keys = append(keys, key[1])
	}
	return nil, false
}

// endOfText is where the text ends that begins at i with its quote.
func endOfText(text string, i int) int {
	for at := i + 1; at < len(text); at++ {
		switch text[at] {
		case '\\':
			at++
		case text[i]:
			return at
		}
	}
	return len(text)
}

// closes reports whether nothing but the end of the object follows.
func closes(rest string) bool { return strings.HasPrefix(strings.TrimSpace(rest), "}") }
