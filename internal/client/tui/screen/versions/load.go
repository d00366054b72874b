package versions

import (
	"fmt"

	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
	"github.com/svcctl/svcctl/pkg/api"
)

// load is what a version costs now: by all of its host names.
type load struct {
	memory, inflight, websockets int64
	requested                    *api.Time // the last one; nil for none
}

func (c *Screen) routes() state.Need { return state.Need{Kind: state.Routes, Project: c.project} }

// loads returns the load of each version that has a route, by id.
func (c *Screen) loads(s *state.State) map[string]load {
	list, _, _ := state.Get[[]api.Route](s, c.routes())
	all := make(map[string]load, len(list))
	for _, r := range list {
		of := all[r.VersionID]
		of.memory = max(of.memory, r.RSSBytes) // each route has that of the same process
		of.inflight, of.websockets = of.inflight+r.Inflight, of.websockets+r.Websockets
		of.requested = later(of.requested, r.LastRequestAt)
		all[r.VersionID] = of
	}
	return all
}

// later returns the later of two times, which may be missing.
func later(a, b *api.Time) *api.Time {
	if a == nil || b != nil && b.After(a.Time) {
		return b
	}
	return a
}

// cells shows a load; "-" for nothing. A version that has just been archived has no load,
// whatever was measured before.
func (l load) cells(status api.VersionStatus) (memory, inflight, websockets ui.Cell) {
	if status == api.VersionStatusArchived || status == api.VersionStatusFailed {
		l = load{}
	}
	memory, inflight, websockets = ui.Num("-", 0), ui.Num("-", 0), ui.Num("-", 0)
	if l.memory > 0 {
		memory = ui.Num(ui.Bytes(l.memory), float64(l.memory))
	}
	if l.inflight > 0 {
		inflight = ui.Num(fmt.Sprint(l.inflight), float64(l.inflight))
	}
	if l.websockets > 0 {
		websockets = ui.Num(fmt.Sprint(l.websockets), float64(l.websockets))
	}
	return memory, inflight, websockets
}
