package ask

import (
	"fmt"
	"slices"
	"strings"

	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
	"github.com/svcctl/svcctl/pkg/api"
)

// Destroy asks for the id of a version, or the number of several.
func Destroy(s *state.State, project string, ids []string) ui.Intent {
	if len(ids) == 0 {
		return nil
	}
	p, _ := s.FindProject(project)
	if slices.Contains(ids, p.ProdVersionID) {
		return ui.Note{Text: p.ProdVersionID + " is production: promote another version first"}
	}
	ask := ui.Ask{Title: "Destroy " + project + "/" + ids[0] + "?", Type: ids[0], Actions: actions(state.Destroy, project, ids)}
	if len(ids) > 1 {
		ask.Title, ask.Type = fmt.Sprintf("Destroy %d versions of %s?", len(ids), project), fmt.Sprint(len(ids))
		ask.Lines = append(ask.Lines, strings.Join(ids[:min(len(ids), 20)], "  "), "")
	}
	ask.Lines = append(ask.Lines, "Its process, its logs and its data are deleted. This cannot be undone.")
	for _, id := range ids {
		if n := children(s, project, id); n > 0 {
			ask.Lines = append(ask.Lines, fmt.Sprintf("%s: %d versions began with its data; they keep what they have of it.", id, n))
		}
	}
	return ask
}

func children(s *state.State, project, id string) (n int) {
	list, _, _ := state.Get[[]api.Version](s, state.Need{Kind: state.Versions, Project: project})
	for _, v := range list {
		if v.ParentVersionID != nil && *v.ParentVersionID == id {
			n++
		}
	}
	return n
}

// DeleteProject asks for the id of a project.
func DeleteProject(s *state.State, p api.Project) ui.Intent {
	lines := []string{"The project and all of its versions are deleted, with their data and logs. This cannot be undone."}
	if of, ok := s.Summary(p.ID); ok {
		n := 0
		for _, count := range of.Versions {
			n += count
		}
		lines = append(lines, fmt.Sprintf("versions     %d", n))
	}
	if p.ProdVersionID != "" {
		lines = append(lines, "production   "+p.ProdVersionID+"  "+p.ProdURL)
	}
	return ui.Ask{
		Title: "Delete the project " + p.ID + "?", Lines: lines, Type: p.ID,
		Actions: []state.Action{{Verb: state.Delete, Project: p.ID, Arg: p.ProdVersionID}},
	}
}

// Do starts a verb that needs no question.
func Do(verb state.Verb, project string, ids []string) ui.Intent {
	return ui.Do{Actions: actions(verb, project, ids)}
}

func actions(verb state.Verb, project string, ids []string) (all []state.Action) {
	for _, id := range ids {
		all = append(all, state.Action{Verb: verb, Project: project, Version: id})
	}
	return all
}

// Cancel asks before a deploy is canceled, which destroys its version.
func Cancel(project, version string) ui.Intent {
	return ui.Ask{
		Title: "Cancel the deploy of " + project + "/" + version + "?", Lines: []string{"The version is destroyed. Its id cannot be used again."},
		Actions: actions(state.Destroy, project, []string{version}),
	}
}
