package text_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/svcctl/svcctl/internal/lib/text"
)

func TestClean(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain, ünïcödé, 日本, 🙂":       "plain, ünïcödé, 日本, 🙂",
		"two\nlines\tand a tab":       "two\nlines\tand a tab",
		"\x1b[31mred\x1b[0m":          "[31mred[0m",
		"\u009b31mred":                "31mred",
		"a\x00b\x07c\x08d\x7fe\rf":    "abcdef",
		"user\u202egnp.exe":           "usergnp.exe",
		"\u2066isolate\u2069":         "isolate",
		"pass\u200bword\u200d\ufeff!": "password!",
		"line\u2028separator\u061c":   "lineseparator",
		"tag\U000e0041\U000e007f":     "tag",
	} {
		if got := text.Clean(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got := text.Line("a\nb\tc\u202e"); got != "a b c" {
		t.Errorf("a line: %q", got)
	}
}

// TestJSON: a document says the same, and has nothing that steers a terminal.
func TestJSON(t *testing.T) {
	t.Parallel()
	in := map[string]string{"k\u202e": "\u009b31m \x7f \u200b \U000e0041 日本 \n\t\r", "plain": "🙂"}
	var out bytes.Buffer
	enc := json.NewEncoder(text.JSON(&out))
	enc.SetIndent("", "\t")
	if err := enc.Encode(in); err != nil {
		t.Fatal(err)
	}
	for _, r := range out.String() {
		if text.IsHidden(r) && r != '\n' && r != '\t' {
			t.Errorf("%U stands in %q", r, out.String())
		}
	}
	var back map[string]string
	if err := json.Unmarshal(out.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	if back["k\u202e"] != in["k\u202e"] || back["plain"] != in["plain"] {
		t.Errorf("%q became %q", in, back)
	}
}
