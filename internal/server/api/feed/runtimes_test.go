package feed_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/svc"
)

// TestRuntimeChanged: an event when a runtime begins or ceases to serve, and for a restart.
func TestRuntimeChanged(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t)
	s, stop := open(t, db)
	at := func(state svc.RuntimeState, restarts int) {
		s.RuntimeChanged(svc.Runtime{Ref: svc.Ref{Project: "shop", Version: "v1"}, State: state, Restarts: restarts})
	}
	at(svc.RuntimeStarting, 0)
	at(svc.RuntimeServing, 0)
	at(svc.RuntimeServing, 0) // its memory changed
	at(svc.RuntimeStarting, 0)
	at(svc.RuntimeServing, 1)
	at(svc.RuntimeAsleep, 1)
	at(svc.RuntimeServing, 0) // counted anew
	at(svc.RuntimeStopped, 0)
	at(svc.RuntimeStopped, 0)
	stop()
	events, err := db.EventsAfter(t.Context(), 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]string, len(events))
	for i, e := range events {
		got[i] = fmt.Sprintf("%s/%s %s %s->%s %d", e.Project, e.Version, e.Type, e.Data.Previous, e.Data.Status, e.Data.Restarts)
	}
	if want := []string{
		"shop/v1 runtime.up starting->serving 0",
		"shop/v1 runtime.down serving->starting 0",
		"shop/v1 runtime.restarted starting->serving 1",
		"shop/v1 runtime.asleep serving->asleep 1",
		"shop/v1 runtime.up ->serving 0",
		"shop/v1 runtime.down serving->stopped 0",
	}; !slices.Equal(got, want) {
		t.Errorf("events %q, want %q", got, want)
	}
}
