package state

import (
	"maps"
	"slices"

	"github.com/svcctl/svcctl/pkg/api"
)

// Summary returns what is known of the versions of a project beside its record; ok is false
// until it was read.
func (s *State) Summary(project string) (of api.ProjectSummary, ok bool) {
	s.changeSummary(project, func(known *api.ProjectSummary) { of, ok = *known, true })
	return of, ok
}

// RuntimeMemory returns the memory of all runtimes; ok is false until it was read.
func (s *State) RuntimeMemory() (total int64, ok bool) {
	list, ok, _ := Get[[]api.Project](s, Need{Kind: Summaries})
	for _, p := range list {
		if p.Summary != nil {
			total += p.Summary.MemoryBytes
		}
	}
	return total, ok
}

// measureMemory keeps the memory of all runtimes for a chart.
func (s *State) measureMemory() {
	total, _ := s.RuntimeMemory()
	s.Memory = append(s.Memory, float64(total))
	s.Memory = slices.Clone(s.Memory[max(len(s.Memory)-maxMemory, 0):])
}

// changeSummary changes the summary of a project if it was read.
func (s *State) changeSummary(project string, change func(*api.ProjectSummary)) {
	list, _, _ := Get[[]api.Project](s, Need{Kind: Summaries})
	i := slices.IndexFunc(list, func(p api.Project) bool { return p.ID == project })
	if i >= 0 && list[i].Summary != nil {
		change(list[i].Summary)
	}
}

// count changes the counts and the last deploy of a project by an event of a version. What
// no event says (memory, requests) is measured again.
func (s *State) count(e api.Event) {
	if e.Data.Status == "" {
		return
	}
	s.changeSummary(e.ProjectID, func(of *api.ProjectSummary) {
		of.Versions = counted(of.Versions, e.Data)
		switch last := of.LastDeploy; {
		case e.Type == "version.created":
			of.LastDeploy = &api.LastDeploy{VersionID: e.VersionID, Status: api.VersionStatus(e.Data.Status), GitRef: e.Data.GitRef, CreatedAt: e.Time}
		case last != nil && last.VersionID == e.VersionID:
			now := *last
			now.Status = api.VersionStatus(e.Data.Status)
			of.LastDeploy = &now
		}
	})
}

// counted moves one version from its previous status to the one it has now.
func counted(of map[string]int, d api.EventData) map[string]int {
	of = maps.Clone(of)
	if of == nil {
		of = map[string]int{}
	}
	if of[d.Previous]--; of[d.Previous] <= 0 {
		delete(of, d.Previous)
	}
	if d.Status != string(api.VersionStatusDestroyed) {
		of[d.Status]++
	}
	return of
}
