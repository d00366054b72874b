package dotenv

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// Expand joins the variables of several files, of which later ones win, and puts the values of variables in
// the places of $NAME and ${NAME}, as npm's dotenv-expand 12 does: of those before them alone, with ${NAME:-default} and
// ${NAME:+other}, and "\$" for a dollar. A name without a value is replaced by nothing.
func Expand(files ...[]Var) map[string]string {
	var all []Var
	for _, file := range files {
		for _, v := range file {
			all = set(all, v.Name, v.Value)
		}
	}
	vars := map[string]string{}
	for _, v := range all {
		vars[v.Name] = strings.ReplaceAll(expand(v.Value, vars), `\$`, "$")
	}
	return vars
}

var (
	reference = regexp.MustCompile(`^(?:\$\{([^{}]+)\}|\$([A-Za-z_][A-Za-z0-9_]*))`)
	operator  = regexp.MustCompile(`:\+|\+|:-|-`)
)

// mostReferences ends an expansion that would not end: a value may refer to itself in other ways than by its name.
const mostReferences = 100

// expand replaces one reference after the other, the first one of the result each time.
func expand(value string, vars map[string]string) string {
	var seen []string
	for range mostReferences {
		template, expression := firstReference(value)
		if template == "" {
			return value
		}
		seen = append(seen, value)
		key, with := resolve(expression, vars, seen)
		at := strings.Index(value, template)
		value = value[:at] + pattern(with, value, at, at+len(template)) + value[at+len(template):]
		if own, ok := vars[key]; ok && own == value {
			return value
		}
	}
	return value
}

// firstReference finds a reference that no backslash is before; "" for none.
func firstReference(value string) (template, expression string) {
	for i := range len(value) {
		if value[i] != '$' || i > 0 && value[i-1] == '\\' {
			continue
		}
		if m := reference.FindStringSubmatch(value[i:]); m != nil {
			return m[0], m[1] + m[2] // one of both is empty
		}
	}
	return "", ""
}

// resolve returns the name of an expression and what takes its place.
func resolve(expression string, vars map[string]string, seen []string) (key, with string) {
	splitter := cmp.Or(operator.FindString(expression), "null") // the original splits by null, as a text
	parts := strings.Split(expression, splitter)
	key = parts[0]
	otherwise := strings.Join(parts[1:], splitter)
	switch value := vars[key]; {
	case strings.HasSuffix(splitter, "+") && value == "":
		return key, ""
	case strings.HasSuffix(splitter, "+"), value == "", slices.Contains(seen, value):
		return key, otherwise
	default:
		return key, value
	}
}

// pattern is the text that replaces value[from:to]. JavaScript's replace gives a dollar in it a meaning.
func pattern(with, value string, from, to int) string {
	var b strings.Builder
	for i := 0; i < len(with); i++ {
		if with[i] != '$' || i+1 == len(with) {
			b.WriteByte(with[i])
			continue
		}
		switch with[i+1] {
		case '$':
			b.WriteByte('$')
		case '&':
			b.WriteString(value[from:to])
		case '`':
			b.WriteString(value[:from])
		case '\'':
			b.WriteString(value[to:])
		default:
			b.WriteByte('$')
			continue
		}
		i++
	}
	return b.String()
}
