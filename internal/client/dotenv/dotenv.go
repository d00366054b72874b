package dotenv

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
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

var namePattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)

// Parse reads the variables of a file. A line is NAME=value, with "export" before it
// or not; a "#" begins a comment. A value in single, double or back quotes may have
// several lines, and "\n" in double quotes is a line break; another value ends at a
// "#" after a space, and has no spaces around it. The last of equal names wins.
// Nothing is substituted in values. Errors are *SyntaxError.
func Parse(data []byte) (map[string]string, error) {
	vars := map[string]string{}
	text := strings.ReplaceAll(strings.TrimPrefix(string(data), "\ufeff"), "\r\n", "\n")
	line := 1
	for text != "" {
		first, rest, _ := strings.Cut(text, "\n")
		entry := strings.TrimSpace(first)
		if entry == "" || strings.HasPrefix(entry, "#") {
			text, line = rest, line+1
			continue
		}
		name, _, ok := strings.Cut(first, "=")
		name = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(name), "export "))
		if !ok || !namePattern.MatchString(name) {
			return nil, &SyntaxError{line, "want NAME=value"}
		}
		after := text[strings.IndexByte(text, '=')+1:]
		value, rest, wrong := readValue(after)
		if wrong != "" {
			return nil, &SyntaxError{line, wrong}
		}
		vars[name] = value
		line += strings.Count(text[:len(text)-len(rest)], "\n")
		text = rest
	}
	return vars, nil
}

// readValue reads the value at the beginning of text and returns the lines after it.
func readValue(text string) (value, rest, wrong string) {
	start := strings.TrimLeft(text, " \t")
	if start != "" && strings.ContainsRune("'\"`", rune(start[0])) {
		return quoted(start)
	}
	line, rest, _ := strings.Cut(text, "\n")
	for i := range line {
		if line[i] == '#' && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t') {
			line = line[:i]
			break
		}
	}
	return strings.TrimSpace(line), rest, ""
}

// quoted reads a value in quotes and the rest of its line.
func quoted(text string) (value, rest, wrong string) {
	quote, end := text[0], 1
	for end < len(text) && text[end] != quote {
		if text[end] == '\\' && end+1 < len(text) && text[end+1] == quote {
			end++
		}
		end++
	}
	if end >= len(text) {
		return "", "", "the closing quote is missing"
	}
	value = text[1:end]
	tail, rest, _ := strings.Cut(text[end+1:], "\n")
	if tail = strings.TrimSpace(tail); tail != "" && tail[0] != '#' {
		return "", "", "text follows the closing quote"
	}
	if quote == '"' {
		value = strings.NewReplacer(`\n`, "\n", `\r`, "\r", `\"`, `"`).Replace(value)
	}
	return value, rest, ""
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
