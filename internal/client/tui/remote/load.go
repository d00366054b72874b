package remote

import (
	"context"
	"fmt"
	"iter"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// Load reads an answer; the message is a state.Loaded.
func (r *Remote) Load(n state.Need) tea.Cmd {
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(r.ctx, loadTimeout)
		defer cancel()
		value, err := r.read(ctx, n)
		return state.Loaded{Need: n, Value: value, Err: err, At: time.Now()}
	}
}

func (r *Remote) read(ctx context.Context, n state.Need) (any, error) {
	switch n.Kind {
	case state.Projects:
		return list(r.c.AllProjects(ctx))
	case state.Summaries:
		return list(r.c.AllProjectSummaries(ctx))
	case state.Project:
		return r.c.Project(ctx, n.Project)
	case state.Versions:
		return list(r.c.AllVersions(ctx, n.Project, ""))
	case state.Version:
		return r.c.Version(ctx, n.Project, n.Version)
	case state.Promotions:
		page, err := r.c.Promotions(ctx, n.Project, client.Page{Limit: 200})
		return page.Items, err
	case state.Bindings:
		return r.c.Bindings(ctx, n.Project, n.Version)
	case state.Env:
		env, err := r.c.Env(ctx, n.Project, n.Version)
		return env.Items, err
	case state.Bundle:
		return r.c.Bundle(ctx, n.Project, n.Version)
	case state.Compare:
		return r.compare(ctx, n)
	case state.Plan:
		return r.c.PromotionPlan(ctx, n.Project, n.Version)
	case state.ReleasePlan:
		return r.c.ReleasePlan(ctx, n.Project, n.Version)
	case state.Health:
		return r.c.DeepHealth(ctx)
	case state.Routes:
		page, err := r.c.ProjectRoutes(ctx, n.Project)
		return page.Items, err
	case state.Traffic:
		return r.c.MetricsSummary(ctx, 0)
	case state.Server:
		return r.c.ServerInfo(ctx)
	case state.Leases:
		return r.leases(ctx)
	case state.Nodes:
		all, err := r.c.Nodes(ctx)
		return all.Items, err
	case state.Gateways:
		all, err := r.c.Gateways(ctx)
		return all.Items, err
	case state.Queue:
		return r.c.DeployQueue(ctx)
	case state.History:
		page, err := r.c.ReadEvents(ctx, client.EventQuery{Tail: 500})
		return page.Items, err
	case state.Broken:
		page, err := r.c.SearchVersions(ctx, client.VersionQuery{Statuses: []api.VersionStatus{api.VersionStatusFailed}, Since: "24h"}, client.Page{})
		return page.Items, err
	case state.Branches:
		return r.c.Branches(ctx, n.Project)
	case state.Logs:
	case state.Stores, state.Tables, state.Rows, state.Query, state.Keys, state.Value, state.Objects, state.Messages, state.Instances, state.Instance, state.DataDiff:
		return r.data(ctx, n)
	}
	return nil, fmt.Errorf("nothing loads %s", n.Kind)
}

// compare compares a version with another one: that of Arg, or else the production.
func (r *Remote) compare(ctx context.Context, n state.Need) (api.Comparison, error) {
	from := n.Arg
	if from == "" {
		p, err := r.c.Project(ctx, n.Project)
		if err != nil {
			return api.Comparison{}, err
		}
		if from = p.ProdVersionID; from == "" {
			return api.Comparison{}, fmt.Errorf("%s has no production: c compares with another version", n.Project)
		}
	}
	return r.c.Compare(ctx, n.Project, from, n.Version)
}

// leases reads all pages.
func (r *Remote) leases(ctx context.Context) (all api.LeasePage, err error) {
	for cursor := ""; ; {
		page, err := r.c.Leases(ctx, "", client.Page{Limit: 200, Cursor: cursor})
		if err != nil {
			return all, err
		}
		page.Items = append(all.Items, page.Items...)
		if all = page; page.NextCursor == nil {
			return all, nil
		}
		cursor = *page.NextCursor
	}
}

// list collects a sequence.
func list[T any](seq iter.Seq2[T, error]) ([]T, error) {
	all := []T{}
	for v, err := range seq {
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}
