package project

import (
	"slices"
	"strings"
)

// word is a key of a project file and what the file that was translated calls it. One that begins with a
// dot is the end of a path.
type word struct{ key, said string }

// said puts the words of the file that was translated into a path or a text.
func (r *reader) said(text string) string {
	if len(r.words) == 0 {
		return text
	}
	words := slices.Clone(r.words)
	slices.SortStableFunc(words, func(a, b word) int { return len(b.key) - len(a.key) })
	var out strings.Builder
	for i := 0; i < len(text); {
		w, ok := wordAt(words, text, i)
		if !ok {
			out.WriteByte(text[i])
			i++
			continue
		}
		out.WriteString(w.said)
		i += len(w.key)
	}
	return out.String()
}

// wordAt finds the longest word that begins at a place of a text and ends with it.
func wordAt(words []word, text string, i int) (word, bool) {
	for _, w := range words {
		if strings.HasPrefix(text[i:], w.key) && !strings.HasSuffix(text[:i], "--allow-missing ") && (strings.HasPrefix(w.key, ".") || i == 0 || !partOfName(text[i-1])) &&
			(i+len(w.key) == len(text) || !partOfName(text[i+len(w.key)])) {
			return w, true
		}
	}
	return word{}, false
}

func partOfName(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}
