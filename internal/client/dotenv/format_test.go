package dotenv_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/svcctl/svcctl/internal/client/dotenv"
)

// TestFormat: what Format writes, Parse reads.
func TestFormat(t *testing.T) {
	t.Parallel()
	vars := map[string]string{
		"PLAIN": "a b", "EMPTY": "", "HASH": "a #b", "SPACES": "  x ", "QUOTE": `it's`, "BOTH": `'"`, "LINES": "a\nb\n",
		"CRLF": "a\r\nb", "PATH": `C:\new`, "TICK": "`", "EQUALS": "a=b", "JSON": `{"a":"b"}`, "END": `a\`,
	}
	text, unwritable := dotenv.Format(vars)
	got, err := dotenv.Parse([]byte(text))
	if err != nil || !maps.Equal(got, vars) || len(unwritable) > 0 {
		t.Errorf("%v, %v, unwritable %v in\n%s", got, err, unwritable, text)
	}
	text, unwritable = dotenv.Format(map[string]string{"A": "'`\"\n", "B": "b"})
	if text != "B=b\n" || !slices.Equal(unwritable, []string{"A"}) {
		t.Errorf("%q, %v", text, unwritable)
	}
}

func FuzzFormat(f *testing.F) {
	f.Add("a")
	f.Add("\\\"'")
	f.Fuzz(func(t *testing.T, value string) {
		text, unwritable := dotenv.Format(map[string]string{"A": value})
		got, err := dotenv.Parse([]byte(text))
		if err != nil || len(unwritable) == 0 && got["A"] != value {
			t.Errorf("%q became %q as %q, %v", value, got["A"], text, err)
		}
	})
}
