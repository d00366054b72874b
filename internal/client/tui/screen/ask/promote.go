package ask

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
	"github.com/svcctl/svcctl/internal/client/unmerged"
	"github.com/svcctl/svcctl/pkg/api"
)

// Promote asks with the plan of a promote.
func Promote(s *state.State, project, version string) ui.Intent {
	v, ok := s.FindVersion(project, version)
	if !ok {
		return ui.Note{Text: "the version is not loaded yet"}
	}
	if v.Status != api.VersionStatusReady {
		return ui.Note{Text: fmt.Sprintf("%s is %s: only a ready version can be promoted", version, v.Status)}
	}
	p, _ := s.FindProject(project)
	if p.ProdVersionID == version {
		return ui.Note{Text: version + " is production already"}
	}
	promote := state.Action{Verb: state.Promote, Project: project, Version: version, Arg: state.JoinArg(p.ProdVersionID, "")}
	ask := ui.Ask{Title: fmt.Sprintf("Promote %s of %s?", version, project), Lines: plan(s, p, v), Actions: []state.Action{promote}}
	if p.ProdVersionID != "" {
		need := state.Need{Kind: state.Plan, Project: project, Version: version}
		compare := state.Need{Kind: state.Compare, Project: project, Version: version}
		ask.Needs = []state.Need{need, compare}
		ask.Live = func(s *state.State) []string {
			return slices.Concat(danger(s, need), migrations(s, compare), left(s, need), instead(s, need))
		}
		ask.Decide = decide(need, promote, p)
	}
	return ask
}

// decide says how a promote is confirmed: once what stays behind was counted, and with the id of
// the project if nothing of production's data is known to be in the version.
func decide(need state.Need, a state.Action, p api.Project) func(*state.State) ui.Decision {
	return func(s *state.State) ui.Decision {
		plan, ok, err := state.Get[api.PromotionPlan](s, need)
		d, leave := ui.Decision{}, ""
		switch {
		case !s.Answered(need):
			return ui.Decision{Wait: "what stays behind is being counted"}
		case err != nil, !ok:
			d.Level = ui.Warning
		case unmerged.Left(plan.Unmerged):
			d.Level, leave = ui.Warning, leaveWrites
			if apart(plan.Unmerged) {
				d.Level = ui.Danger
			}
		}
		if d.Level == ui.Danger && a.Verb == state.Promote {
			d.Type = p.ID
		}
		a.Arg = state.JoinArg(p.ProdVersionID, leave)
		d.Actions = []state.Action{a}
		return d
	}
}

// leaveWrites is the part of an Arg that accepts that writes stay behind.
const leaveWrites = "leave writes"

// apart reports whether two versions have no common cut that could be counted from.
func apart(u *api.Unmerged) bool {
	return u != nil && (u.Reason == api.UnmergedReasonUnrelated || u.Reason == api.UnmergedReasonLost)
}

// instead says what to do so that nothing stays behind, and how to get what did.
func instead(s *state.State, need state.Need) []string {
	p, ok, err := state.Get[api.PromotionPlan](s, need)
	if err != nil || !ok || !unmerged.Left(p.Unmerged) {
		return nil
	}
	return []string{
		"To keep these writes: esc, then N releases " + p.VersionID + ", its code on the data of " + p.ProductionVersionID + ".",
		"To get them afterwards: " + unmerged.Rescue(p.ProjectID, p.ProductionVersionID),
	}
}

// danger warns of a promote to a version without any of production's data.
func danger(s *state.State, need state.Need) []string {
	p, ok, err := state.Get[api.PromotionPlan](s, need)
	if err != nil || !ok || !apart(p.Unmerged) {
		return nil
	}
	return []string{"Production would be empty or unrelated: nothing of production's data is known to be in " + p.VersionID + "."}
}

// migrations says which ones only one of two versions has, or has otherwise.
func migrations(s *state.State, need state.Need) []string {
	c, ok, err := state.Get[api.Comparison](s, need)
	if err != nil || !ok {
		return nil // the tab "compare" says why
	}
	var names []string
	for _, d := range c.Differences {
		if d.What == api.DifferenceWhatMigration {
			names = append(names, string(d.Change)+" "+d.Name)
		}
	}
	switch len(names) {
	case 0:
		return []string{"No migration differs."}
	case 1:
		return []string{"1 migration differs: " + names[0]}
	}
	return []string{fmt.Sprintf("%d migrations differ: %s", len(names), strings.Join(names, ", "))}
}

// left says what a promote leaves behind, once the server has counted it.
func left(s *state.State, need state.Need) []string {
	p, ok, err := state.Get[api.PromotionPlan](s, need)
	switch {
	case err != nil:
		return []string{"What is not merged was not counted: " + err.Error()}
	case !ok:
		return []string{"Counting what is not merged …"}
	case p.Unmerged == nil:
		return nil
	}
	lines := []string{unmerged.Cut(*p.Unmerged, p.ProductionVersionID, p.VersionID)}
	lines = append(lines, counts(*p.Unmerged)...)
	if w := p.Waiting; w != nil && w.Messages+w.Instances > 0 {
		lines = append(lines, fmt.Sprintf("%d messages and %d instances of workflows wait: they stay with %s, which continues with them.", w.Messages, w.Instances, p.ProductionVersionID))
	}
	return lines
}

// counts are the lines of what one version wrote.
func counts(u api.Unmerged) (lines []string) {
	for _, r := range unmerged.Rows(u) {
		w := r.WrittenRecords
		lines = append(lines, fmt.Sprintf("  %s: %s new, %s changed, %s deleted", r.What, unmerged.Count(w.Inserted, w), unmerged.Count(w.Updated, w), unmerged.Count(w.Deleted, w)))
	}
	return lines
}

// plan says what a promote changes.
func plan(s *state.State, p api.Project, v api.Version) []string {
	lines := []string{"production   " + cmp.Or(p.ProdVersionID, "none") + " -> " + v.ID}
	old, ok := s.FindVersion(p.ID, p.ProdVersionID)
	if !ok {
		if p.ProdVersionID == "" {
			return append(lines, "", "The project has no production yet.")
		}
		return append(lines, "", "The data of "+p.ProdVersionID+" is not merged into "+v.ID+".")
	}
	lines = append(lines,
		"commit       "+commit(old)+" -> "+commit(v),
		"made         "+ui.Age(s.Now, old.CreatedAt.Time)+" ago -> "+ui.Age(s.Now, v.CreatedAt.Time)+" ago",
	)
	if diff := changedKeys(old.Env, v.Env); diff != "" {
		lines = append(lines, "env          "+diff)
	}
	return append(lines, "", "Requests wait while "+old.ID+" finishes those that it has; its websockets are closed.", old.ID+" stays ready: R goes back to it.")
}

func commit(v api.Version) string {
	text := v.GitRef
	if v.GitSHA != "" {
		text = strings.TrimPrefix(text+"@"+v.GitSHA[:min(7, len(v.GitSHA))], "@")
	}
	return cmp.Or(text, "none")
}

// changedKeys lists the keys of the environment that only one of two versions has.
func changedKeys(a, b map[string]string) string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(a)) {
		if _, ok := b[k]; !ok {
			out = append(out, "-"+k)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(b)) {
		if _, ok := a[k]; !ok {
			out = append(out, "+"+k)
		}
	}
	return strings.Join(out, " ")
}
