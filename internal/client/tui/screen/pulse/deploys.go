package pulse

import (
	"fmt"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
	"github.com/svcctl/svcctl/pkg/api"
)

// recent is how far back the strip of deploys goes.
const recent = time.Hour

// memory says what the runtimes of all projects have.
func memory(s *state.State) string {
	total, ok := s.RuntimeMemory()
	if !ok {
		return "-"
	}
	return ui.Bytes(total)
}

// deploys draws a sign for each deploy that ended in the last hour, oldest first.
func deploys(s *state.State, p ui.Page) string {
	var signs []string
	failed := 0
	for _, e := range happened(s) {
		if !ended(e) || s.Now.Sub(e.Time.Time) > recent {
			continue
		}
		sign := p.Good.Render("●")
		if e.Data.Status == string(api.VersionStatusFailed) {
			sign = p.Bad.Render("✗")
			failed++
		}
		signs = append(signs, sign)
	}
	text := fmt.Sprintf(" %-9s%11d", "deploys", len(signs))
	if failed > 0 {
		text += p.Bad.Render(fmt.Sprintf("  %d failed", failed))
	}
	if p.Plain { // the numbers say the same
		return text + " in the last hour"
	}
	most := max(min(p.W-40, 60), 0)
	return text + "  " + strings.Join(signs[max(len(signs)-most, 0):], "")
}

// happened returns the events that are known, oldest first and each once.
func happened(s *state.State) []api.Event {
	history, _, _ := state.Get[[]api.Event](s, state.Need{Kind: state.History})
	all, last := []api.Event{}, int64(0)
	for _, list := range [][]api.Event{history, s.Events} {
		for _, e := range list {
			if e.ID > last || e.ID == 0 {
				all, last = append(all, e), max(e.ID, last)
			}
		}
	}
	return all
}

// ended reports whether an event is the end of a deploy.
func ended(e api.Event) bool {
	return e.Type == "version.status" && ui.Deploying(api.VersionStatus(e.Data.Previous)) &&
		(e.Data.Status == string(api.VersionStatusReady) || e.Data.Status == string(api.VersionStatusFailed))
}
