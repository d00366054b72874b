package pulse

import (
	"slices"

	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/pkg/api"
)

// lastSweep returns the event of the last sweep of the object store in the last hour.
func lastSweep(s *state.State) (api.Event, bool) {
	history, _, _ := state.Get[[]api.Event](s, state.Need{Kind: state.History})
	for _, list := range [][]api.Event{s.Events, history} {
		for _, e := range slices.Backward(list) {
			if e.Type == "gc.done" {
				return e, true
			}
		}
	}
	return api.Event{}, false
}
