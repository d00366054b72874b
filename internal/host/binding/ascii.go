package binding

import (
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// ASCII writes JSON so that a header can carry it: other characters are escaped, and
// control characters, which JSON has between tokens only, become spaces.
func ASCII(text string) string {
	out := make([]byte, 0, len(text))
	for _, r := range text {
		switch {
		case r < ' ':
			out = append(out, ' ')
		case r < utf8.RuneSelf && r != 0x7f:
			out = append(out, byte(r))
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return string(out)
}
