package workerd

import (
	"encoding/hex"
	"strings"
)

// quote writes s as a capnp Text literal. Quotes, backslashes and control bytes
// are escaped (a raw line break would be a parse error, and so would \u);
// everything else, UTF-8 of any plane, is copied unchanged. s must be valid UTF-8:
// workerd would replace other bytes by U+FFFD.
func quote(s string) string {
	const digits = "0123456789abcdef"
	var b strings.Builder
	b.Grow(len(s) + 2)
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c < 0x20 || c == 0x7f:
			b.WriteString(`\x`)
			b.WriteByte(digits[c>>4])
			b.WriteByte(digits[c&0xf])
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// quoteData writes s as a capnp Data literal.
func quoteData(s string) string { return `0x"` + hex.EncodeToString([]byte(s)) + `"` }
