package janitor_test

import (
	"context"
	"slices"
	"testing"

	"github.com/svcctl/svcctl/internal/server/upkeep/janitor"
	"github.com/svcctl/svcctl/internal/svc"
)

type states []string

func (s *states) Health(context.Context) (status, detail string) {
	status, *s = (*s)[0], (*s)[1:]
	return status, "store"
}

// TestHealth: an event for each change, and none while the health stays.
func TestHealth(t *testing.T) {
	t.Parallel()
	var seen []string
	s := states{"ok", "unavailable", "unavailable", "degraded", "ok", "ok"}
	task := janitor.Health(&s, func(e svc.FeedEvent) {
		seen = append(seen, e.Type+" "+e.Data.Previous+" "+e.Data.Status+" "+e.Data.Detail)
	})
	for len(s) > 0 {
		if err := task.RunOnce(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"health.changed ok unavailable store", "health.changed unavailable degraded store", "health.changed degraded ok store"}
	if !slices.Equal(seen, want) {
		t.Errorf("got %q", seen)
	}
}
