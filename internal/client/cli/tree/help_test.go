package tree

import (
	"strings"
	"testing"
)

// TestWrapped: long lines break between words, lists and short lines stay.
func TestWrapped(t *testing.T) {
	t.Parallel()
	list := "  hello           one handler and a variable"
	text := "Lists and changes the variables of one version.\n" + list + "\nshort"
	want := "Lists and changes the\nvariables of one\nversion.\n" + list + "\nshort"
	if got := wrapped(text, 22); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := wrapped(text, 60); got != text {
		t.Errorf("%q", got)
	}
	broken := strings.Repeat("word ", 21) + "end\nof it\n" + list
	if got, want := wrapped(broken, 120), strings.Repeat("word ", 21)+"end of it\n"+list; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if word := strings.Repeat("x", 30); wrapped(word, 22) != word {
		t.Error("a long word changed")
	}
}
