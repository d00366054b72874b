package bundle_test

import (
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/svc"
)

// TestHistory: a bundle may ask for less than the server keeps, never for more.
func TestHistory(t *testing.T) {
	t.Parallel()
	most := svc.History{Seconds: time.Hour, Minutes: 24 * time.Hour, Hours: 7 * 24 * time.Hour, MaxSize: 100}
	number := func(d time.Duration) *int64 { n := int64(d / time.Second); return &n }
	less := most
	less.Minutes, less.MaxSize = 2*time.Hour, 50
	for name, tc := range map[string]struct {
		says  *bundle.History
		want  svc.History
		keeps bool
	}{
		"nothing": {nil, most, true},
		"off":     {bundle.NoHistory(), svc.History{MaxSize: 100}, false},
		"less":    {&bundle.History{Minutes: number(2 * time.Hour), MaxSize: 50}, less, true},
		"more":    {&bundle.History{Seconds: number(48 * time.Hour), MaxSize: 200}, most, true},
	} {
		m := bundle.Manifest{Release: &bundle.Release{History: tc.says}}
		if got := m.History(most); got != tc.want || m.KeepsHistory() != tc.keeps {
			t.Errorf("%s: %+v, %v; want %+v, %v", name, got, m.KeepsHistory(), tc.want, tc.keeps)
		}
		if got := m.History(svc.History{}); !got.Off() {
			t.Errorf("%s: a server without history keeps %+v", name, got)
		}
	}
}
