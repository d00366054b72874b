package data

import (
	"strings"

	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
	"github.com/svcctl/svcctl/pkg/api"
)

// maxLine is the length in bytes above which a value is not edited here. It may be cut.
const maxLine = 4 << 10

// change returns the intent of a key that changes data; nil for another key. id is that
// of the row of the cursor, "" for none.
func (c *Screen) change(k string, s *state.State, id string) ui.Intent {
	switch c.kind {
	case keys, value:
		return c.changeKey(k, s, id)
	case messages:
		return c.changeQueue(k, s)
	case instances, steps:
		return c.changeInstance(k, s, id)
	}
	return nil
}

func (c *Screen) action(verb state.Verb, arg ...string) []state.Action {
	return []state.Action{{Verb: verb, Project: c.place.Project, Version: c.place.Version, Arg: state.JoinArg(arg...)}}
}

func (c *Screen) of() string { return c.place.Project + "/" + c.place.Version }

// changeKey stores and deletes values of keys.
func (c *Screen) changeKey(k string, s *state.State, id string) ui.Intent {
	switch {
	case k == "a" && c.kind == keys:
		return ui.Input{Title: "Set a value in " + c.arg[0], Label: "KEY=VALUE", Then: func(text string) ui.Intent {
			name, value, ok := strings.Cut(text, "=")
			if !ok || name == "" {
				return ui.Note{Text: "nothing was changed: want KEY=VALUE"}
			}
			return ui.Do{Actions: c.action(state.PutValue, c.arg[0], name, value)}
		}}
	case k == "e" && id != "" && c.kind == keys:
		return c.open(value, c.arg[0], id)
	case k == "e" && id != "":
		return c.input(s, id)
	case k == "x" && id != "":
		return ui.Ask{Title: "Delete the key " + id + "?", Lines: []string{c.arg[0] + " of " + c.of()}, Actions: c.action(state.DeleteValue, c.arg[0], id)}
	}
	return nil
}

// input asks for the new value of a key. A value of several lines is not edited here: it
// would become one line.
func (c *Screen) input(s *state.State, id string) ui.Intent {
	text, ok, _ := c.shown(s)
	if !ok || ui.Clean(text) != text || len(text) > maxLine {
		return ui.Note{Text: "this value is not one line of text: change it with svcctl kv key put"}
	}
	return ui.Input{Title: "Change " + id + " of " + c.arg[0], Label: "Its value", Text: text, Then: func(next string) ui.Intent {
		if next == text {
			return ui.Note{Text: "nothing was changed"}
		}
		return ui.Do{Actions: c.action(state.PutValue, c.arg[0], id, next)}
	}}
}

// changeQueue pauses, resumes, redrives and purges a queue.
func (c *Screen) changeQueue(k string, s *state.State) ui.Intent {
	content, _, _ := state.Get[state.QueueContent](s, c.need())
	switch name := c.arg[0]; {
	case k == "H" && content.Queue.Paused:
		return ui.Do{Actions: c.action(state.ResumeQueue, name)}
	case k == "H":
		return ui.Do{Actions: c.action(state.PauseQueue, name)}
	case k == "V":
		return ui.Ask{Title: "Deliver the dead messages of " + name + " again?", Lines: []string{"They move from its dead letter queue back to " + name + "."}, Actions: c.action(state.Redrive, name)}
	case k == "x":
		return ui.Ask{Title: "Delete all messages of " + name + "?", Type: name, Lines: []string{"Messages of " + c.of() + " that wait are not delivered. This cannot be undone."}, Actions: c.action(state.Purge, name)}
	}
	return nil
}

// changeInstance pauses, resumes and terminates an instance of a workflow.
func (c *Screen) changeInstance(k string, s *state.State, id string) ui.Intent {
	if c.kind == steps {
		id = c.arg[1]
	}
	if id == "" {
		return nil
	}
	switch status := c.statusOf(s, id); {
	case k == "H" && (status == "paused" || status == "waitingForPause"):
		return ui.Do{Actions: c.action(state.ResumeRun, c.arg[0], id)}
	case k == "H":
		return ui.Do{Actions: c.action(state.PauseRun, c.arg[0], id)}
	case k == "x":
		return ui.Ask{Title: "Terminate " + id + " of " + c.arg[0] + "?", Lines: []string{"What it has under way ends. A terminated instance does not continue."}, Actions: c.action(state.TerminateRun, c.arg[0], id)}
	}
	return nil
}

func (c *Screen) statusOf(s *state.State, id string) string {
	if c.kind == steps {
		i, _, _ := state.Get[api.WorkflowInstanceDetail](s, c.need())
		return i.Status
	}
	page, _, _ := state.Get[api.WorkflowInstancePage](s, c.need())
	for _, i := range page.Items {
		if i.ID == id {
			return i.Status
		}
	}
	return ""
}
