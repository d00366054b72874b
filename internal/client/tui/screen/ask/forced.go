package ask

import (
	"errors"

	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/client"
)

// force is the part of an Arg that releases earlier code although migrations were applied since.
const force = "force"

// Forced asks whether earlier code is to run on newer tables, after the server has refused that. The
// id of the project is typed. ok is false for the end of another action.
func Forced(d state.Done) (a ui.Ask, ok bool) {
	var refused *client.Error
	if d.Action.Verb != state.Release || !errors.As(d.Err, &refused) || refused.Problem.Code != svc.CodeSchemaMoved {
		return a, false
	}
	arg := state.SplitArg(d.Action.Arg, 3)
	if arg[1] == "" || arg[2] != "" {
		return a, false
	}
	forced := d.Action
	forced.Arg = state.JoinArg(arg[0], arg[1], force)
	return ui.Ask{
		Title: "Force the code of " + d.Action.Version + " on the tables of " + arg[0] + "?",
		Lines: []string{
			"The server refused it: " + refused.Problem.Detail, "",
			"The earlier code may fail on the newer tables, or write what the next version cannot read.",
			"The way without that risk is R and then d: the earlier version with its data of before.",
		},
		Type: d.Action.Project, Actions: []state.Action{forced},
	}, true
}
