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
	ask := ui.Ask{
		Title: fmt.Sprintf("Promote %s of %s?", version, project), Lines: plan(s, p, v),
		Actions: []state.Action{{Verb: state.Promote, Project: project, Version: version}},
	}
	if p.ProdVersionID != "" {
		need := state.Need{Kind: state.Plan, Project: project, Version: version}
		compare := state.Need{Kind: state.Compare, Project: project, Version: version}
		ask.Needs = []state.Need{need, compare}
		ask.Live = func(s *state.State) []string { return slices.Concat(migrations(s, compare), left(s, need)) }
	}
	return ask
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
	for _, r := range unmerged.Rows(*p.Unmerged) {
		w := r.WrittenRecords
		lines = append(lines, fmt.Sprintf("  %s: %s new, %s changed, %s deleted", r.What, unmerged.Count(w.Inserted, w), unmerged.Count(w.Updated, w), unmerged.Count(w.Deleted, w)))
	}
	if w := p.Waiting; w != nil && w.Messages+w.Instances > 0 {
		lines = append(lines, fmt.Sprintf("%d messages and %d instances of workflows wait: they stay with %s, which continues with them.", w.Messages, w.Instances, p.ProductionVersionID))
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
	data := v.ID + " has data of its own: what was written to " + old.ID + " is not merged."
	if v.ParentVersionID != nil && *v.ParentVersionID == old.ID && v.ForkTXID != "" {
		data = v.ID + " began with the data of " + old.ID + " at " + v.ForkTXID + ": what was written to " + old.ID + " since then is not merged."
	}
	return append(lines, "", data, "Requests wait while "+old.ID+" finishes those that it has; its websockets are closed.", old.ID+" stays ready: R rolls back to it.")
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

// Rollback asks before the previous production is restored.
func Rollback(s *state.State, project string) ui.Intent {
	p, ok := s.FindProject(project)
	if !ok || p.ProdVersionID == "" {
		return ui.Note{Text: project + " has no production"}
	}
	before := "the version before"
	need := state.Need{Kind: state.Promotions, Project: project}
	if list, ok, err := state.Get[[]api.Promotion](s, need); ok && err == nil && s.Answered(need) {
		if before = previous(list, p.ProdVersionID); before == "" {
			return ui.Note{Text: p.ProdVersionID + " is the first production of " + project + ": there is no version to roll back to"}
		}
	}
	lines := []string{"production   " + p.ProdVersionID + " -> " + before, "", "What was written to " + p.ProdVersionID + " is not carried over."}
	return ui.Ask{Title: "Roll back " + project + "?", Lines: lines, Actions: []state.Action{{Verb: state.Rollback, Project: project}}}
}

// previous returns the version that a production replaced, by the newest promotion of it;
// "" without one.
func previous(list []api.Promotion, production string) string {
	for _, o := range list {
		if o.Status == api.PromotionStatusDone && o.VersionID == production && o.PreviousVersionID != "" {
			return o.PreviousVersionID
		}
	}
	return ""
}

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
