package foreign

import (
	"regexp"
	"strings"
)

// Names are those of the user's project, by placeholder: "PROJECT" is its name, "DATABASE" the binding of its first
// database, "DATABASE shop" the binding of its database shop.
type Names map[string]string

var (
	page        = regexp.MustCompile(`\[([^\]]+)\]\(\.\./([^)]+)\)`)
	placeholder = regexp.MustCompile(`\b[A-Z]{2,}(?:-[A-Z]+)*\b`)
	plain       = regexp.MustCompile(`^[\w./@-]{1,64}$`)
)

// Hint is the text of a row for a terminal, with what the user typed and the names of the project in the place of
// placeholders. next are its command lines.
func (m Match) Hint(names Names) (text string, next []string) {
	text = command.ReplaceAllStringFunc(m.Text, func(line string) string {
		return placeholder.ReplaceAllStringFunc(line, func(p string) string { return m.fill(p, names) })
	})
	for _, found := range command.FindAllStringSubmatch(text, -1) {
		next = append(next, found[1])
	}
	text = page.ReplaceAllString(text, "$1 (docs/$2)")
	return strings.ReplaceAll(text, "`", ""), next
}

// fill is what stands in the place of a placeholder: the binding of the thing that the user named, the only one of the
// project, or the word that was typed.
func (m Match) fill(p string, names Names) string {
	typed := m.typed[p]
	if name := names[p+" "+typed]; name != "" {
		return name
	}
	if name := names[p]; name != "" && (typed == "" || p != "PROJECT") {
		return name
	}
	if plain.MatchString(typed) {
		return typed
	}
	return p
}

// Refusal says what of the row svcctl does not have: "" if it has the command, and the arguments are wrong.
func (m Match) Refusal(exists bool) string {
	if !exists {
		return `no command "` + strings.Join(m.Literals(), " ") + `"`
	}
	if flags := m.Flags(); len(flags) > 0 {
		return "no flag --" + flags[0]
	}
	return ""
}
