package overlay

import (
	"strings"
	"testing"
)

// TestOtherText: a change whose text is missing, or there twice, is refused with the name of the file.
func TestOtherText(t *testing.T) {
	t.Parallel()
	p := patch{"runtime/x.go", []change{{"a()", "b()"}}}
	if text, err := p.apply("x; a(); y"); err != nil || text != "x; b(); y" {
		t.Errorf("changed: %q, %v", text, err)
	}
	for _, text := range []string{"x", "a(); a()"} {
		if _, err := p.apply(text); err == nil || !strings.Contains(err.Error(), "runtime/x.go") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
