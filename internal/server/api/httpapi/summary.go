package httpapi

import (
	"context"

	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// summarize adds the summaries of projects to their wire forms.
func (h handlers) summarize(ctx context.Context, projects []api.Project) error {
	ids := make([]string, len(projects))
	for i, p := range projects {
		ids[i] = p.ID
	}
	known, err := h.Overview.Summaries(ctx, ids)
	if err != nil {
		return err
	}
	traffic := h.Traffic.Summary(defaultWindow).Projects
	running := h.memory()
	for i, id := range ids {
		s := known[id]
		projects[i].Summary = &api.ProjectSummary{ //nolint:gosec // ids has the length of projects
			Versions: byStatus(s.Versions), Pinned: s.Pinned, Previews: s.Previews, ProductionSince: api.MaybeAt(s.ProductionSince),
			LastDeploy: lastDeployOut(s.Last), Running: running[id].n, MemoryBytes: running[id].bytes, Traffic: trafficOut(svc.Ref{Project: id}, traffic[id]),
		}
	}
	return nil
}

// runtimesOf counts the runtimes of a project.
type runtimesOf struct {
	n     int
	bytes int64
}

// memory counts the runtimes of each project. A version has a route for each of its host
// names.
func (h handlers) memory() map[string]runtimesOf {
	all, seen := map[string]runtimesOf{}, map[svc.Ref]bool{}
	for _, r := range h.Routes.Routes() {
		if r.Runtime.State == "" || r.Runtime.State == svc.RuntimeStopped || seen[r.Ref] {
			continue
		}
		seen[r.Ref] = true
		of := all[r.Ref.Project]
		all[r.Ref.Project] = runtimesOf{of.n + 1, of.bytes + r.Runtime.RSSBytes}
	}
	return all
}

func byStatus(counts map[svc.Status]int) map[string]int {
	out := make(map[string]int, len(counts))
	for status, n := range counts {
		out[string(status)] = n
	}
	return out
}

func lastDeployOut(v *svc.Version) *api.LastDeploy {
	if v == nil {
		return nil
	}
	return &api.LastDeploy{
		VersionID: v.Version, Status: api.VersionStatus(v.Status), GitRef: v.GitRef, GitSHA: v.GitSHA,
		CreatedAt: api.At(v.CreatedAt), ReadyAt: api.MaybeAt(v.ReadyAt),
	}
}
