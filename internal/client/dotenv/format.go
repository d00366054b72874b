package dotenv

import (
	"maps"
	"slices"
	"strings"
)

// Format writes variables in the form that [Parse] reads, sorted by name. unwritable
// are the names whose values the form cannot hold; they are left out.
func Format(vars map[string]string) (text string, unwritable []string) {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		line, ok := formatOne(name, vars[name])
		if !ok {
			unwritable = append(unwritable, name)
			continue
		}
		b.WriteString(line)
	}
	return b.String(), unwritable
}

// formatOne returns the first form of a variable that is read back unchanged. A backslash before the last quote would
// make the lines that follow a part of the value.
func formatOne(name, value string) (line string, ok bool) {
	escaped := strings.NewReplacer("\n", `\n`, "\r", `\r`, `"`, `\"`).Replace(value)
	for _, form := range []string{value, "'" + value + "'", "`" + value + "`", `"` + escaped + `"`} {
		if quoted := form != value; quoted && form[len(form)-2] == '\\' {
			continue
		}
		line := name + "=" + form + "\n"
		got, err := Parse([]byte(line))
		if back, found := got[name]; err == nil && found && len(got) == 1 && back == value {
			return line, true
		}
	}
	return "", false
}
