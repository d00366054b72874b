package ask

import (
	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// Rollback asks before production goes back. After a release there are two ways: with the data
// kept, and with the data of before.
func Rollback(s *state.State, project string) ui.Intent {
	p, ok := s.FindProject(project)
	if !ok || p.ProdVersionID == "" {
		return ui.Note{Text: project + " has no production"}
	}
	list, ok, err := state.Get[[]api.Promotion](s, state.Need{Kind: state.Promotions, Project: project})
	switch {
	case !ok && err != nil:
		return ui.Note{Text: "where a rollback leads is not known: " + err.Error()}
	case !ok:
		return ui.Note{Text: "where a rollback leads is not loaded yet"}
	}
	to, err := client.RollbackFrom(p.ProdVersionID, list)
	if err != nil {
		return ui.Note{Text: p.ProdVersionID + " is the first production of " + project + ": there is no version to roll back to"}
	}
	if !to.Released {
		return restore(p, to)
	}
	return ui.Ask{
		Title: "Roll back " + project + "?", Lines: []string{to.Production + " has the data of " + to.Version + " and what was written since. There are two ways back:"},
		Ways: []ui.Way{
			{Key: "k", Text: "back to the code of " + to.Version + ", data kept", Then: func(*state.State) ui.Intent { return release(p, to.Version, true) }},
			{Key: "d", Text: "back to " + to.Version + " with its data of before " + to.Before(), Then: func(*state.State) ui.Intent { return restore(p, to) }},
		},
	}
}

// restore asks before the version that was production before is promoted with its own data.
func restore(p api.Project, to client.Rollback) ui.Ask {
	title := "Roll back " + p.ID + " to " + to.Version + " with its own data?"
	if to.Released {
		title = "Back to " + to.Version + " with its data of before " + to.Before() + "?"
	}
	need := state.Need{Kind: state.Plan, Project: p.ID, Version: to.Version}
	return ui.Ask{
		Title: title, Lines: []string{"production   " + to.Production + " -> " + to.Version, "", "What was written to " + to.Production + " is not carried over."},
		Needs: []state.Need{need}, Live: func(s *state.State) []string { return left(s, need) },
		Decide: decide(need, state.Action{Verb: state.Rollback, Project: p.ID, Version: to.Version}, p),
	}
}
