package ask

import (
	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
	"github.com/svcctl/svcctl/pkg/api"
)

// Env asks before a variable is set or an override deleted. The value is not shown
// again.
func Env(s *state.State, a state.Action) ui.Intent {
	name := state.SplitArg(a.Arg, 2)[0]
	ask := ui.Ask{Title: "Set " + name + " of " + a.Target() + "?", Actions: []state.Action{a}}
	if a.Verb == state.UnsetVar {
		ask.Title = "Delete the override " + name + " of " + a.Target() + "?"
		ask.Lines = append(ask.Lines, "A variable of the bundle with this name has its value of the bundle again.")
	}
	v, _ := s.FindVersion(a.Project, a.Version)
	if v.IsProduction {
		ask.Lines = append(ask.Lines, a.Version+" is production.")
	}
	if v.Status == api.VersionStatusReady {
		ask.Lines = append(ask.Lines, "The worker restarts; requests wait meanwhile.")
	}
	return ask
}
