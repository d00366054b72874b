package cli

import "testing"

// TestOnly: the error says what a version has, and how to name one of several.
func TestOnly(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		all        []string
		want, fail string
	}{
		{[]string{"A"}, "A", ""},
		{nil, "", "version v1 has no buckets: its wrangler config binds none"},
		{[]string{"A", "B"}, "", "version v1 has 2 buckets (A, B): name one with --binding"},
	} {
		got, err := only("v1", "buckets", tc.all, func(s string) string { return s })
		if got != tc.want || (err != nil || tc.fail != "") && (err == nil || err.Error() != tc.fail) {
			t.Errorf("%v: %q, %v", tc.all, got, err)
		}
	}
}
