package svc

import "strings"

const (
	minSecret     = 6 // shorter values are not told apart from ordinary words
	minSecretLine = 8 // nor are shorter lines of a value
)

// Redact takes the values of a version's environment out of a text: a worker
// that throws at load likes to print them [D16]. It must see the text before
// anything shortens it or folds its spaces, for it does not know a part of a
// value, except a whole line.
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

// mark notes where a secret is in text. It replaces nothing: of two values that
// overlap, the second would not be found any more.
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

// secretTexts are the texts that give a value away: the value, and each of its
// lines, for they may be printed apart.
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

// printed are the ways in which a worker's console and errors show a text: as
// it is, as a string of an inspected object, as JSON, and as JSON within JSON.
func printed(text string) []string {
	if !strings.ContainsAny(text, "\\\"\n\r\t\b\f") {
		return []string{text} // all the same
	}
	controls := []string{`\`, `\\`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "\b", `\b`, "\f", `\f`}
	inspected := strings.NewReplacer(controls...).Replace(text)
	quoted := strings.NewReplacer(append(controls, `"`, `\"`)...)
	return []string{text, inspected, quoted.Replace(text), quoted.Replace(quoted.Replace(text))}
}
