package binding_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/host/binding"
)

// TestASCII: JSON is the same after its way through a header.
func TestASCII(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"a": "plain"}`, "{\n\t\"größe\": \"😀 \u2028\"\r\n}", "\"\x7f\"", `""`} {
		got := binding.ASCII(text)
		if strings.ContainsFunc(got, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Errorf("%q becomes %q, which no header has", text, got)
		}
		var want, back any
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(got), &back); err != nil {
			t.Errorf("%q: %v", got, err)
		}
		if a, b := canonical(t, want), canonical(t, back); a != b {
			t.Errorf("%q becomes %q", a, b)
		}
	}
}

func canonical(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
