package cli

import (
	"testing"
	"time"
)

// TestMoment: the forms of --at.
func TestMoment(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("east", 2*3600)
	now := time.Date(2026, 3, 4, 10, 30, 0, 0, zone)
	for value, want := range map[string]time.Time{
		"":                        {},
		"2026-03-01T08:00:00Z":    time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC),
		"2026-03-01T08:00:00.25Z": time.Date(2026, 3, 1, 8, 0, 0, 250_000_000, time.UTC),
		"2026-03-01 08:00":        time.Date(2026, 3, 1, 8, 0, 0, 0, zone),
		"2026-03-01 08:00:07":     time.Date(2026, 3, 1, 8, 0, 7, 0, zone),
		"10:15":                   time.Date(2026, 3, 4, 10, 15, 0, 0, zone),
		"10:29:59":                time.Date(2026, 3, 4, 10, 29, 59, 0, zone),
		"11:00":                   time.Date(2026, 3, 3, 11, 0, 0, 0, zone),
		"10 minutes ago":          now.Add(-10 * time.Minute),
		"1 hour ago":              now.Add(-time.Hour),
		"2 days ago":              now.Add(-48 * time.Hour),
		"90s ago":                 now.Add(-90 * time.Second),
	} {
		if got, err := momentOf(value, now); err != nil || !got.Equal(want) {
			t.Errorf("%q is %v, %v; want %v", value, got, err, want)
		}
	}
	for _, value := range []string{"soon", "10", "10 minutes", "ago", "25:00", "ten minutes ago", "10 weeks ago"} {
		if got, err := momentOf(value, now); err == nil {
			t.Errorf("%q is %v", value, got)
		}
	}
}

// TestAtNeedsAParent: --at is refused where it has no meaning.
func TestAtNeedsAParent(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		o  deployOptions
		ok bool
	}{
		"with a parent":    {deployOptions{at: "10:00", parent: "v7"}, true},
		"of production":    {deployOptions{at: "10:00", parent: productionParent}, true},
		"nothing":          {deployOptions{}, true},
		"without a parent": {deployOptions{at: "10:00"}, false},
		"of nothing":       {deployOptions{at: "10:00", parent: noParent}, false},
		"with --release":   {deployOptions{at: "10:00", parent: productionParent, release: true}, false},
		"which is no time": {deployOptions{at: "soon", parent: "v7"}, false},
	} {
		if err := tc.o.checkMoment(); (err == nil) != tc.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
