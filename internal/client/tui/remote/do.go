package remote

import (
	"context"
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// Do starts an action; the message is a state.Done. The server completes what it has
// begun, also when the interface is left before.
func (r *Remote) Do(a state.Action) tea.Cmd {
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(r.ctx, actionTimeout)
		defer cancel()
		note, err := r.act(ctx, a)
		return state.Done{Action: a, Note: note, Err: err}
	}
}

func (r *Remote) act(ctx context.Context, a state.Action) (note string, err error) {
	switch a.Verb {
	case state.Release:
		return r.release(ctx, a)
	case state.Promote:
		return r.promote(ctx, a, "svcctl ui")
	case state.Rollback:
		return r.promote(ctx, a, client.RollbackReason)
	case state.Archive:
		return r.archive(ctx, a)
	case state.Wake:
		_, err = r.c.Wake(ctx, a.Project, a.Version)
	case state.Pin:
		_, err = r.c.Pin(ctx, a.Project, a.Version)
	case state.Unpin:
		_, err = r.c.Unpin(ctx, a.Project, a.Version)
	case state.Destroy:
		_, err = r.c.Destroy(ctx, a.Project, a.Version)
	case state.Create:
		_, err = r.c.CreateProject(ctx, api.CreateProject{ID: a.Project})
	case state.Delete:
		deleted, err := r.c.DeleteProject(ctx, a.Project, a.Arg)
		return fmt.Sprintf("%s deleted, with %s", a.Project, versions(len(deleted.Items))), err
	case state.Write:
		return r.write(ctx, a)
	case state.SetVar, state.UnsetVar:
		return r.setVar(ctx, a)
	case state.PutValue, state.DeleteValue:
		return r.setValue(ctx, a)
	case state.PauseQueue, state.ResumeQueue, state.Redrive, state.Purge:
		return r.changeQueue(ctx, a)
	case state.PauseRun, state.ResumeRun, state.TerminateRun:
		return r.changeInstance(ctx, a)
	}
	past := map[state.Verb]string{
		state.Wake: "woken", state.Pin: "pinned", state.Unpin: "unpinned", state.Destroy: "destroyed", state.Create: "created",
	}
	return a.Target() + " " + past[a.Verb], err
}

func versions(n int) string {
	if n == 1 {
		return "1 version"
	}
	return fmt.Sprintf("%d versions", n)
}

// archive archives a version, and says how much of its work waits for a wake.
func (r *Remote) archive(ctx context.Context, a state.Action) (string, error) {
	v, err := r.c.Archive(ctx, a.Project, a.Version)
	note := a.Target() + " archived"
	if v.Waiting != nil {
		note += fmt.Sprintf("; %s wait until it is woken", *v.Waiting)
	}
	return note, err
}
