package remote

import (
	"context"
	"fmt"

	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

const (
	pageSize = 100
	maxValue = 64 << 10 // bytes of a value that are shown
)

// data reads the data of a version.
func (r *Remote) data(ctx context.Context, n state.Need) (any, error) {
	arg := state.SplitArg(n.Arg, 3)
	page := client.Page{Limit: pageSize, Cursor: arg[2]}
	switch n.Kind { //nolint:exhaustive // the others are not data
	case state.Tables:
		return r.c.Tables(ctx, n.Project, n.Version, n.Arg)
	case state.Rows:
		return r.c.Rows(ctx, n.Project, n.Version, arg[1], client.RowsOptions{Page: page, Binding: arg[0]})
	case state.Query:
		arg = state.SplitArg(n.Arg, 2)
		return r.c.Query(ctx, n.Project, n.Version, api.DatabaseQuery{Binding: arg[0], SQL: arg[1]})
	case state.Keys:
		return r.c.Keys(ctx, client.KV{Project: n.Project, Version: n.Version, Binding: arg[0]}, arg[1], page)
	case state.Value:
		arg = state.SplitArg(n.Arg, 2)
		v, err := r.c.GetValue(ctx, client.KV{Project: n.Project, Version: n.Version, Binding: arg[0]}, arg[1])
		return string(v.Data[:min(len(v.Data), maxValue)]), err
	case state.Objects:
		return r.c.Objects(ctx, client.R2{Project: n.Project, Version: n.Version, Binding: arg[0]}, arg[1], "", page)
	case state.Messages:
		return r.messages(ctx, client.Queue{Project: n.Project, Version: n.Version, Name: n.Arg})
	case state.Instances:
		arg = state.SplitArg(n.Arg, 2)
		return r.c.WorkflowInstances(ctx, client.Workflow{Project: n.Project, Version: n.Version, Name: arg[0]}, "", client.Page{Limit: pageSize, Cursor: arg[1]})
	case state.DataDiff:
		return r.dataDiff(ctx, n)
	case state.Instance:
		arg = state.SplitArg(n.Arg, 2)
		return r.c.WorkflowInstance(ctx, client.Workflow{Project: n.Project, Version: n.Version, Name: arg[0]}, arg[1])
	}
	return r.stores(ctx, n)
}

// dataDiff compares the data of a version with that of Arg, or else of its parent.
func (r *Remote) dataDiff(ctx context.Context, n state.Need) (any, error) {
	other := n.Arg
	if other == "" {
		v, err := r.c.Version(ctx, n.Project, n.Version)
		if err != nil {
			return nil, err
		}
		if v.ParentVersionID == nil {
			return nil, fmt.Errorf("%s has no parent: c compares with another version", n.Version)
		}
		other = *v.ParentVersionID
	}
	return r.c.CompareData(ctx, n.Project, n.Version, other)
}

// messages reads a queue and its next messages.
func (r *Remote) messages(ctx context.Context, q client.Queue) (content state.QueueContent, err error) {
	if content.Queue, err = r.c.Queue(ctx, q); err != nil {
		return content, err
	}
	content.Messages, err = r.c.PeekMessages(ctx, q, "", pageSize)
	return content, err
}

// stores lists what a version has of data.
func (r *Remote) stores(ctx context.Context, n state.Need) (list state.StoreList, err error) {
	if list.Databases, err = r.c.Databases(ctx, n.Project, n.Version); err != nil {
		return list, err
	}
	if list.Namespaces, err = r.c.Namespaces(ctx, n.Project, n.Version); err != nil {
		return list, err
	}
	if list.Buckets, err = r.c.Buckets(ctx, n.Project, n.Version); err != nil {
		return list, err
	}
	if list.Queues, err = r.c.Queues(ctx, n.Project, n.Version); err != nil {
		return list, err
	}
	list.Workflows, err = r.c.Workflows(ctx, n.Project, n.Version)
	return list, err
}

// write runs SQL that may change data.
func (r *Remote) write(ctx context.Context, a state.Action) (string, error) {
	arg, readOnly := state.SplitArg(a.Arg, 2), false
	results, err := r.c.Query(ctx, a.Project, a.Version, api.DatabaseQuery{Binding: arg[0], SQL: arg[1], ReadOnly: &readOnly})
	if err != nil {
		return "", err
	}
	changes := int64(0)
	for _, q := range results {
		changes += q.Meta.Changes
	}
	if changes == 1 {
		return a.Target() + ": 1 row changed", nil
	}
	return fmt.Sprintf("%s: %d rows changed", a.Target(), changes), nil
}
