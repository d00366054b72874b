package dotenv

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// SyntaxError is a line that is no variable. Errors never repeat the line: it may be
// a part of a secret.
type SyntaxError struct {
	Line int // from 1; 0 for a JSON document
	Text string
}

// Error returns the line's number and what is wrong with it.
func (e *SyntaxError) Error() string {
	if e.Line == 0 {
		return e.Text
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Text)
}

// Var is one variable of a file.
type Var struct{ Name, Value string }

// space is what JavaScript takes for a space.
const space = `[\s\v\x{a0}\x{feff}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}]`

// variable is the pattern of npm's dotenv 16. A value is in quotes, or ends at a "#" or the end of the line.
var variable = regexp.MustCompile(strings.ReplaceAll(
	`(?m)^\s*(?:export\s+)?([\w.-]+)(?:\s*=\s*?|:\s+?)(\s*'(?:\\'|[^'])*'|\s*"(?:\\"|[^"])*"|\s*`+"`(?:\\\\`|[^`])*`"+`|[^#\r\n]+)?\s*(?:#.*)?$`, `\s`, space))

// Read reads the variables of a file as npm's dotenv does, so as wrangler: in the order of their first
// lines, the last of equal names wins. A line is NAME=value or NAME: value, with "export" before it or not. Nothing is
// substituted. problems are lines that are no variables, or whose value is perhaps not what was meant.
func Read(data []byte) (vars []Var, problems []*SyntaxError) {
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(data))
	end := 0
	for _, m := range variable.FindAllStringSubmatchIndex(text, -1) {
		problems = append(problems, strayLines(text, end, m[0])...)
		end = m[1]
		raw, after := "", strings.TrimPrefix(text[m[3]:m[1]], "=")
		if m[4] >= 0 {
			raw, after = text[m[4]:m[5]], text[m[5]:m[1]]
		}
		value := unquoted(raw)
		if wrong := suspect(raw, value, after); wrong != "" {
			problems = append(problems, &SyntaxError{lineOf(text, m[2]), wrong})
		}
		vars = set(vars, text[m[2]:m[3]], value)
	}
	return vars, append(problems, strayLines(text, end, len(text))...)
}

// set gives a variable its value, and keeps its place.
func set(vars []Var, name, value string) []Var {
	if i := slices.IndexFunc(vars, func(v Var) bool { return v.Name == name }); i >= 0 {
		vars[i].Value = value
		return vars
	}
	return append(vars, Var{name, value})
}

func lineOf(text string, at int) int { return 1 + strings.Count(text[:at], "\n") }

// strayLines are the lines between two variables that are neither empty nor comments.
func strayLines(text string, from, to int) (problems []*SyntaxError) {
	line := lineOf(text, from)
	for entry := range strings.SplitSeq(text[from:to], "\n") {
		if entry = trimmed(entry); entry != "" && entry[0] != '#' {
			problems = append(problems, &SyntaxError{line, "want NAME=value"})
		}
		line++
	}
	return problems
}

var spaces = regexp.MustCompile(`^` + space + `+|` + space + `+$`)

func trimmed(text string) string { return spaces.ReplaceAllString(text, "") }

const quotes = "'\"`"

// unquoted is a value without its quotes. Line breaks are written as \n in double quotes alone.
func unquoted(raw string) string {
	value := trimmed(raw)
	if value == "" {
		return ""
	}
	double := value[0] == '"'
	if last := len(value) - 1; last > 0 && strings.ContainsRune(quotes, rune(value[0])) && value[last] == value[0] {
		value = value[1:last]
	}
	if double {
		value = strings.NewReplacer(`\n`, "\n", `\r`, "\r").Replace(value)
	}
	return value
}

// suspect returns what is odd about a value; "" for nothing. after is what follows it.
func suspect(raw, value, after string) string {
	head := trimmed(raw)
	switch {
	case head != "" && strings.ContainsRune(quotes, rune(head[0])) && value == head && strings.Count(head, head[:1]) > 1:
		return "text follows the closing quote"
	case head != "" && strings.ContainsRune(quotes, rune(head[0])) && value == head:
		return "the closing quote is missing"
	case strings.HasPrefix(after, "#") && (raw == "" || trimmed(raw[len(raw)-1:]) != ""):
		return "a # begins a comment: put a value that has one in quotes"
	}
	return ""
}

// Parse reads the variables of a file as [Read] does, and refuses a file with a suspect line. Errors
// are *SyntaxError.
func Parse(data []byte) (map[string]string, error) {
	list, problems := Read(data)
	if len(problems) > 0 {
		return nil, problems[0]
	}
	vars := map[string]string{}
	for _, v := range list {
		vars[v.Name] = v.Value
	}
	return vars, nil
}

// ParseAny reads a JSON object of strings, or the form that [Parse] reads. Errors are
// *SyntaxError.
func ParseAny(data []byte) (map[string]string, error) {
	if !bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		return Parse(data)
	}
	var values map[string]any
	if err := json.Unmarshal(data, &values); err != nil {
		return nil, &SyntaxError{0, "the JSON is malformed"}
	}
	vars := map[string]string{}
	for name, v := range values {
		text, ok := v.(string)
		if !ok {
			return nil, &SyntaxError{0, fmt.Sprintf("the value of %q is not a string", name)}
		}
		vars[name] = text
	}
	return vars, nil
}
