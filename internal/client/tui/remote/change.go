package remote

import (
	"context"
	"fmt"
	"strings"

	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// setValue stores or deletes the value of a key. Its metadata and the time at which it
// expires stay.
func (r *Remote) setValue(ctx context.Context, a state.Action) (string, error) {
	arg := state.SplitArg(a.Arg, 3)
	kv := client.KV{Project: a.Project, Version: a.Version, Binding: arg[0]}
	if a.Verb == state.DeleteValue {
		return arg[1] + " of " + arg[0] + " deleted", r.c.DeleteValue(ctx, kv, arg[1])
	}
	old, err := r.c.GetValue(ctx, kv, arg[1])
	if err != nil && client.CodeOf(err) != svc.CodeKeyNotFound {
		return "", err
	}
	err = r.c.PutValue(ctx, kv, arg[1], strings.NewReader(arg[2]), client.NewValue{Metadata: old.Metadata, Expiration: old.Expiration})
	return arg[1] + " of " + arg[0] + " stored", err
}

// changeQueue pauses, resumes, redrives or purges a queue.
func (r *Remote) changeQueue(ctx context.Context, a state.Action) (note string, err error) {
	var n int
	q := client.Queue{Project: a.Project, Version: a.Version, Name: a.Arg}
	switch a.Verb { //nolint:exhaustive // the others are not for queues
	case state.PauseQueue:
		_, err = r.c.PauseQueue(ctx, q)
		note = a.Arg + " paused"
	case state.ResumeQueue:
		_, err = r.c.ResumeQueue(ctx, q)
		note = a.Arg + " resumed"
	case state.Redrive:
		n, err = r.c.RedriveQueue(ctx, q, api.RedriveQueue{})
		note = fmt.Sprintf("%s: %d dead messages are delivered again", a.Arg, n)
	case state.Purge:
		n, err = r.c.PurgeQueue(ctx, q)
		note = fmt.Sprintf("%s: %d messages deleted", a.Arg, n)
	}
	return note, err
}

// changeInstance pauses, resumes or terminates an instance of a workflow.
func (r *Remote) changeInstance(ctx context.Context, a state.Action) (string, error) {
	arg := state.SplitArg(a.Arg, 2)
	w := client.Workflow{Project: a.Project, Version: a.Version, Name: arg[0]}
	change := map[state.Verb]func(context.Context, client.Workflow, string) (api.WorkflowInstanceDetail, error){
		state.PauseRun: r.c.PauseWorkflowInstance, state.ResumeRun: r.c.ResumeWorkflowInstance, state.TerminateRun: r.c.TerminateWorkflowInstance,
	}[a.Verb]
	i, err := change(ctx, w, arg[1])
	return arg[1] + " is " + i.Status, err
}
