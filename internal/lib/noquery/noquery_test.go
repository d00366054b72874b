package noquery

import (
	"slices"
	"testing"
)

// TestAsks: only a command ui that draws asks the terminal, in each way to write --plain.
func TestAsks(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		args []string
		want bool
	}{
		{[]string{"versions", "list"}, false},
		{[]string{"ui"}, true},
		{[]string{"-C", "production", "ui", "shop"}, true},
		{[]string{"ui", "--plain"}, false},
		{[]string{"ui", "--plain=true"}, false},
		{[]string{"ui", "--plain=1", "shop"}, false},
		{[]string{"ui", "--plain=false"}, true},
		{[]string{"ui", "--plain", "--plain=false"}, true},
		{[]string{"ui", "--plain=maybe"}, false},
		{[]string{"--plain", "ui"}, false},
		{[]string{"versions", "--plain=false"}, false},
	} {
		if got := asks(slices.Concat([]string{"svcctl"}, tc.args)); got != tc.want {
			t.Errorf("%v: %v, want %v", tc.args, got, tc.want)
		}
	}
}
