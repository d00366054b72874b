package svc

import (
	"maps"
	"slices"
	"strings"
)

const (
	minSecret     = 6 // bytes; shorter values could be ordinary words
	minSecretLine = 8 // bytes; likewise for a line of a value
)

// Redact replaces the values of a version's environment in the output of its
// worker [D16]. Call it before the text is cut or its spaces are folded: it finds
// whole values and whole lines of values, not parts of them.
func Redact(text string, env map[string]string) string {
	var r Redactor
	for _, value := range env {
		r.add(value, redacted)
	}
	return r.Redact(text)
}

// Redactor replaces the values of one environment in many texts. It is immutable
// and safe for concurrent use.
type Redactor struct{ secrets []secret }

// secret is a text to hide, and what stands in its place.
type secret struct{ text, label string }

// NewRedactor returns a Redactor that puts ***NAME*** in place of the value of NAME.
func NewRedactor(env map[string]string) *Redactor {
	r := &Redactor{}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		r.add(env[name], "***"+name+"***")
	}
	return r
}

func (r *Redactor) add(value, label string) {
	seen := map[string]bool{} // a value may have one line many times
	for _, text := range secretTexts(value) {
		if !seen[text] {
			seen[text] = true
			r.secrets = append(r.secrets, secret{text, label})
		}
	}
}

// Redact returns text without the values.
func (r *Redactor) Redact(text string) string {
	var labels []string // by byte of text; nil until a value is found
	for _, s := range r.secrets {
		labels = mark(labels, text, s)
	}
	if labels == nil {
		return text
	}
	var b strings.Builder
	for i := range len(text) {
		switch {
		case labels[i] == "":
			b.WriteByte(text[i])
		case i == 0 || labels[i-1] == "":
			b.WriteString(labels[i])
		}
	}
	return b.String()
}

// mark sets the label of each byte of the secret in text. It does not replace the
// text, because a second value that overlaps would no longer be found.
func mark(labels []string, text string, s secret) []string {
	for at, end := 0, 0; ; at++ {
		i := strings.Index(text[at:], s.text)
		if i < 0 {
			return labels
		}
		if labels == nil {
			labels = make([]string, len(text))
		}
		at += i
		for end = max(at, end); end < at+len(s.text); end++ {
			if labels[end] == "" {
				labels[end] = s.label
			}
		}
	}
}

// secretTexts returns the texts that reveal a value: the value and each of its
// lines, which may be printed apart.
func secretTexts(value string) []string {
	var texts []string
	if whole := strings.TrimSpace(value); len(whole) >= minSecret {
		texts = printed(whole)
	}
	if !strings.ContainsAny(value, "\r\n") {
		return texts
	}
	for line := range strings.FieldsFuncSeq(value, func(c rune) bool { return c == '\n' || c == '\r' }) {
		if line = strings.TrimSpace(line); len(line) >= minSecretLine {
			texts = append(texts, printed(line)...)
		}
	}
	return texts
}

// printed returns the forms in which a worker's console and errors show a text:
// plain, as a string of an inspected object, as JSON, and as JSON within JSON.
func printed(text string) []string {
	if !strings.ContainsAny(text, "\\\"\n\r\t\b\f") {
		return []string{text} // all forms are equal
	}
	controls := []string{`\`, `\\`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "\b", `\b`, "\f", `\f`}
	inspected := strings.NewReplacer(controls...).Replace(text)
	quoted := strings.NewReplacer(append(controls, `"`, `\"`)...)
	return []string{text, inspected, quoted.Replace(text), quoted.Replace(quoted.Replace(text))}
}

var (
	bearer   = pattern(`(?i)\b(bearer|basic) +[A-Za-z0-9._~+/-]{8,}=*`) //nolint:gochecknoglobals // a constant
	userinfo = pattern(`://[^\s/?#@:'"]*:[^\s/?#@'"]+@`)                //nolint:gochecknoglobals // a constant
)

// HideCredentials replaces what looks like a credential in a text: the value of an
// Authorization header, and name and password in a URL.
func HideCredentials(text string) string {
	if strings.Contains(text, "earer ") || strings.Contains(text, "asic ") {
		text = bearer().ReplaceAllStringFunc(text, hideToken)
	}
	if strings.Contains(text, "://") && strings.Contains(text, "@") {
		text = userinfo().ReplaceAllString(text, "://***@")
	}
	return text
}

// hideToken hides the token in "Bearer token", unless it is a word.
func hideToken(text string) string {
	kind, token, _ := strings.Cut(text, " ")
	if !strings.ContainsAny(token, "0123456789") && strings.ToLower(token) == token {
		return text
	}
	return kind + " ***"
}
