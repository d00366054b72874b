package text

import (
	"strings"
	"unicode"
)

// IsHidden reports whether r is not shown but changes what is: a control character (C0, DEL, C1),
// one without a width, one that changes the direction of text, or one that breaks a line
// without being a line feed. Tab and line feed are hidden, too; a caller keeps them where they
// have a meaning.
func IsHidden(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(hidden, r)
}

// hidden has the characters besides the control characters.
//
//nolint:gochecknoglobals // a constant table
var hidden = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x00ad, Hi: 0x00ad, Stride: 1}, // soft hyphen
		{Lo: 0x061c, Hi: 0x061c, Stride: 1}, // Arabic letter mark
		{Lo: 0x180e, Hi: 0x180e, Stride: 1}, // Mongolian vowel separator
		{Lo: 0x200b, Hi: 0x200f, Stride: 1}, // no width; marks of direction
		{Lo: 0x2028, Hi: 0x202e, Stride: 1}, // separators of lines; embeddings and overrides
		{Lo: 0x2060, Hi: 0x206f, Stride: 1}, // invisible operators; isolates
		{Lo: 0xfeff, Hi: 0xfeff, Stride: 1}, // byte order mark
		{Lo: 0xfff9, Hi: 0xfffb, Stride: 1}, // annotations between lines
	},
	R32:         []unicode.Range32{{Lo: 0xe0000, Hi: 0xe007f, Stride: 1}}, // tags
	LatinOffset: 1,
}

// Clean returns s without hidden characters. Line feeds and tabs stay.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		if IsHidden(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, s)
}

// Line returns s as one line without hidden characters: line feeds and tabs become spaces.
func Line(s string) string {
	return Clean(strings.NewReplacer("\n", " ", "\t", " ").Replace(s))
}
