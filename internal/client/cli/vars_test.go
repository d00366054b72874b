package cli

import "testing"

// TestVariable: both spellings of a variable, whatever its value has.
func TestVariable(t *testing.T) {
	t.Parallel()
	for pair, want := range map[string][2]string{
		"A=b": {"A", "b"}, "A:b": {"A", "b"}, "URL=http://x?y=z": {"URL", "http://x?y=z"}, "URL:http://x?y=z": {"URL", "http://x?y=z"}, "A=": {"A", ""}, "A:": {"A", ""},
	} {
		if name, value, ok := variable(pair); !ok || name != want[0] || value != want[1] {
			t.Errorf("%s: %q, %q, %t", pair, name, value, ok)
		}
	}
	for _, pair := range []string{"A", "", "=b", ":b"} {
		if _, _, ok := variable(pair); ok {
			t.Errorf("%q is a variable", pair)
		}
	}
}
