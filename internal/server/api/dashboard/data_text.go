package dashboard

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// cellOf returns a value of a database as text.
func cellOf(value any) cell {
	switch value := value.(type) {
	case nil:
		return cell{Text: "null", Null: true}
	case string:
		return cell{Text: clip(value)}
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return cell{Text: err.Error()}
	}
	return cell{Text: clip(string(raw))}
}

// clip returns the beginning of a text.
func clip(text string) string {
	if utf8.RuneCountInString(text) <= maxCell {
		return text
	}
	return string([]rune(text)[:maxCell]) + "…"
}

// valueOf returns a value as text, or how large it is.
func valueOf(raw []byte) *shownValue {
	switch {
	case !utf8.Valid(raw):
		return &shownValue{Note: "binary, " + size(int64(len(raw)))}
	case len(raw) > maxValue:
		return &shownValue{Text: strings.ToValidUTF8(string(raw[:maxValue]), ""), Note: "the first " + size(maxValue) + " of " + size(int64(len(raw)))}
	}
	shown := &shownValue{Text: string(raw), Note: size(int64(len(raw)))}
	if !bytes.ContainsAny(raw, "\r\x00") { // a form would change them
		shown.Was = digest(raw)
	}
	return shown
}
