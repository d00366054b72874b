package state

import (
	"slices"
	"strings"

	"github.com/svcctl/svcctl/pkg/api"
)

// Apply takes an event: it changes the fields that the event has, and returns the
// records to read again for the rest.
func (s *State) Apply(e api.Event) []Need {
	s.Events = append(s.Events, e)
	if extra := len(s.Events) - maxEvents; extra > maxEvents/4 { // not at every event
		s.Events = slices.Clone(s.Events[extra:])
	}
	group, _, _ := strings.Cut(e.Type, ".")
	switch group {
	case "queue":
		if e.Data.Depth != nil {
			s.Queue = *e.Data.Depth
		}
		s.Expire(Need{Kind: Queue})
		return nil
	case "project":
		return s.applyProject(e)
	case "version":
		s.Expire(Need{Kind: Queue})
		if e.Type != "version.step" && e.Type != "version.warning" {
			s.count(e)
		}
		if e.Data.Status == string(api.VersionStatusFailed) || e.Type == "version.destroyed" {
			s.Expire(Need{Kind: Broken})
		}
		if e.Type == "version.destroyed" { // others may keep some of its data
			s.Expire(Need{Kind: Branches, Project: e.ProjectID})
		}
		return s.applyVersion(e)
	case "env":
		s.Expire(Need{Kind: Env, Project: e.ProjectID, Version: e.VersionID})
		s.expireComparisons(e.ProjectID)
		return s.known(e, func(*api.Version) {})
	case "promotion":
		s.Expire(Need{Kind: Promotions, Project: e.ProjectID})
		return nil
	case "runtime":
		return s.known(e, func(v *api.Version) {
			if v.Runtime != nil {
				now := *v.Runtime
				now.State, now.Restarts, now.LastError = api.RuntimeState(e.Data.Status), e.Data.Restarts, e.Data.Error
				v.Runtime = &now
			}
		})
	case "health", "gc":
		s.Expire(Need{Kind: Health})
	}
	return nil
}

func (s *State) applyProject(e api.Event) []Need {
	if e.Type == "project.deleted" {
		s.dropProject(e.ProjectID)
		return nil
	}
	if e.Type == "project.production" {
		s.expireComparisons(e.ProjectID)
		s.Expire(Need{Kind: Promotions, Project: e.ProjectID})
		if p, ok := s.FindProject(e.ProjectID); ok {
			p.ProdVersionID = e.VersionID
			s.putProject(p)
		}
		s.changeSummary(e.ProjectID, func(of *api.ProjectSummary) {
			if of.ProductionSince = &e.Time; e.VersionID == "" {
				of.ProductionSince = nil
			}
		})
		n := Need{Kind: Versions, Project: e.ProjectID}
		if list, ok, _ := Get[[]api.Version](s, n); ok {
			for i := range list {
				list[i].IsProduction = list[i].ID == e.VersionID
			}
		}
	}
	needs := s.handedOver(e)
	if !s.Has(Need{Kind: Projects}) {
		return needs
	}
	return append(needs, Need{Kind: Project, Project: e.ProjectID})
}

// handedOver has the production before read again: a release may have taken over its work.
func (s *State) handedOver(e api.Event) []Need {
	if e.Type != "project.production" || e.Data.Previous == "" {
		return nil
	}
	e.VersionID = e.Data.Previous
	return s.known(e, func(*api.Version) {})
}

// dropProject removes a project from the lists.
func (s *State) dropProject(id string) {
	for _, kind := range []Kind{Projects, Summaries} {
		if list, ok, _ := Get[[]api.Project](s, Need{Kind: kind}); ok {
			s.entries[Need{Kind: kind}].value = slices.DeleteFunc(list, func(p api.Project) bool { return p.ID == id })
		}
	}
}

// expireComparisons marks the comparisons of a project's versions as old.
func (s *State) expireComparisons(project string) {
	for n, e := range s.entries {
		if n.Kind == Compare && n.Project == project {
			e.stale = true
		}
	}
}

func (s *State) applyVersion(e api.Event) []Need {
	return s.known(e, func(v *api.Version) {
		switch e.Type {
		case "version.pinned", "version.unpinned":
			v.Pinned = e.Type == "version.pinned"
		case "version.step", "version.warning":
		default:
			if e.Data.Status != "" {
				v.Status = api.VersionStatus(e.Data.Status)
			}
			if e.Data.Error != "" {
				v.Error = e.Data.Error
			}
		}
	})
}

// known changes the version of an event if it is shown somewhere, and returns the need
// to read it again.
func (s *State) known(e api.Event, change func(*api.Version)) []Need {
	need := Need{Kind: Version, Project: e.ProjectID, Version: e.VersionID}
	list, listed, _ := Get[[]api.Version](s, Need{Kind: Versions, Project: e.ProjectID})
	one, single, _ := Get[api.Version](s, need)
	if !listed && !single {
		return nil
	}
	if single {
		change(&one)
		s.entries[need].value = one
	}
	if i := slices.IndexFunc(list, func(v api.Version) bool { return v.ID == e.VersionID }); i >= 0 {
		v := list[i]
		change(&v)
		s.putVersion(v)
	}
	return []Need{need}
}
