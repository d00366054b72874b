package ask

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
	"github.com/svcctl/svcctl/internal/client/unmerged"
	"github.com/svcctl/svcctl/pkg/api"
)

// Release asks with the plan of a release. A version whose data a release has continued is
// earlier code.
func Release(s *state.State, project, version string) ui.Intent {
	v, ok := s.FindVersion(project, version)
	if !ok {
		return ui.Note{Text: "the version is not loaded yet"}
	}
	if v.Status != api.VersionStatusReady {
		return ui.Note{Text: fmt.Sprintf("%s is %s: only a ready version can be released", version, v.Status)}
	}
	p, _ := s.FindProject(project)
	switch p.ProdVersionID {
	case "":
		return ui.Note{Text: project + " has no production whose data a release could take: p promotes " + version}
	case version:
		return ui.Note{Text: version + " is production already"}
	}
	return release(p, version, v.HandedOverTo != "")
}

// release asks before the code of a version is put on the data of production.
func release(p api.Project, version string, back bool) ui.Ask {
	title, mark := fmt.Sprintf("Release %s of %s on the data of %s?", version, p.ID, p.ProdVersionID), ""
	if back {
		title, mark = "Back to the code of "+version+", data kept?", string(state.Rollback)
	}
	need := state.Need{Kind: state.ReleasePlan, Project: p.ID, Version: version}
	a := state.Action{Verb: state.Release, Project: p.ID, Version: version, Arg: state.JoinArg(p.ProdVersionID, mark)}
	return ui.Ask{
		Title: title, Lines: []string{
			"production   " + p.ProdVersionID + " -> a new version with the code of " + version,
			"data         all of " + p.ProdVersionID + ": no write is lost", "",
			"Requests wait during the hold, and websockets are closed.", "A failure before the end of the hold leaves production unchanged.",
		},
		Needs: []state.Need{need}, Live: func(s *state.State) []string { return releasePlan(s, need, back) },
		Decide: func(s *state.State) ui.Decision { return mayRelease(s, need, a) },
	}
}

// mayRelease holds the answer back until there is a plan that the server would not refuse.
func mayRelease(s *state.State, need state.Need, a state.Action) ui.Decision {
	plan, ok, err := state.Get[api.ReleasePlan](s, need)
	switch {
	case !s.Answered(need):
		return ui.Decision{Wait: "the plan of the release is being made"}
	case err == nil && ok && plan.Blocked != "":
		return ui.Decision{Wait: "the release would be refused: " + plan.Blocked, Level: ui.Danger}
	}
	return ui.Decision{Actions: []state.Action{a}}
}

// releasePlan says what a release does, once the server has planned it.
func releasePlan(s *state.State, need state.Need, back bool) []string {
	p, ok, err := state.Get[api.ReleasePlan](s, need)
	switch {
	case err != nil:
		return []string{"The release was not planned: " + err.Error()}
	case !ok:
		return []string{"Planning the release …"}
	case p.Blocked != "":
		return []string{"The release would be refused: " + p.Blocked}
	}
	lines := []string{
		"expected hold  " + ui.InMillis(p.ExpectedHoldMs) + " of at most " + ui.InMillis(p.MaxHoldMs),
		"migrations     " + cmp.Or(strings.Join(p.Migrations, ", "), "none"),
		fmt.Sprintf("moves along    %d messages and %d instances of workflows", p.Waiting.Messages, p.Waiting.Instances),
	}
	if !unmerged.Left(&p.Own) {
		return lines
	}
	if back || apart(&p.Own) {
		return append(lines, "The data of "+p.VersionID+" stays in it: the release takes its code only.")
	}
	lines = append(lines, "What "+p.VersionID+" wrote itself stays in it:")
	return append(lines, counts(p.Own)...)
}
