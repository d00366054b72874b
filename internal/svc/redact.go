package svc

import "strings"

const (
	minSecret     = 6 // bytes; shorter values could be ordinary words
	minSecretLine = 8 // bytes; likewise for a line of a value
)

// Redact replaces the values of a version's environment in the output of its
// worker [D16]. Call it before the text is cut or its spaces are folded: it finds
// whole values and whole lines of values, not parts of them.
func Redact(text string, env map[string]string) string {
	hidden := make([]bool, len(text))
	for _, value := range env {
		for _, secret := range secretTexts(value) {
			mark(hidden, text, secret)
		}
	}
	var b strings.Builder
	for i := range len(text) {
		switch {
		case !hidden[i]:
			b.WriteByte(text[i])
		case i == 0 || !hidden[i-1]:
			b.WriteString(redacted)
		}
	}
	return b.String()
}

// mark sets hidden for each byte of secret in text. It does not replace the text,
// because a second value that overlaps would no longer be found.
func mark(hidden []bool, text, secret string) {
	for at, end := 0, 0; ; at++ {
		i := strings.Index(text[at:], secret)
		if i < 0 {
			return
		}
		at += i
		for end = max(at, end); end < at+len(secret); end++ {
			hidden[end] = true
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
