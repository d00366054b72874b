package tui

import (
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
)

func dataOfV7(t *testing.T) *person {
	t.Helper()
	return sit(t, ui.Place{Screen: "data", Project: "shop", Version: "v7"})
}

// TestKeys: values are set, changed and deleted; one of several lines is not changed here.
func TestKeys(t *testing.T) {
	t.Parallel()
	p := dataOfV7(t)
	p.answers[state.Need{Kind: state.Value, Project: "shop", Version: "v7", Arg: state.JoinArg("CACHE", "greeting")}] = "hello"
	p.press("j<enter>agreeting=hi=you<enter>")
	p.wantArg(state.PutValue, "CACHE", "greeting", "hi=you")
	p.press("e")
	p.sees("CACHE › greeting", "hello")
	p.press("e!<enter>")
	p.wantArg(state.PutValue, "CACHE", "greeting", "hello!")
	p.press("e<enter>")
	p.sees("nothing was changed")
	p.press("x")
	p.sees("Delete the key greeting?")
	p.press("y")
	p.wantArg(state.DeleteValue, "CACHE", "greeting")
	p.answers[state.Need{Kind: state.Value, Project: "shop", Version: "v7", Arg: state.JoinArg("CACHE", "greeting")}] = "two\nlines"
	p.press("re")
	p.sees("this value is not one line of text")
}

// TestQueue: messages are read again while they are shown; a queue is paused, redriven and
// purged.
func TestQueue(t *testing.T) {
	t.Parallel()
	p := dataOfV7(t)
	p.press("jjj<enter>")
	p.sees("1 ready, 1 delayed, 0 with the worker; 40 done, 2 retried, 1 dead", "delayed", "mail")
	p.press("H")
	p.wantArg(state.PauseQueue, "jobs")
	need := state.Need{Kind: state.Messages, Project: "shop", Version: "v7", Arg: "jobs"}
	paused := p.answers[need].(state.QueueContent) //nolint:forcetypeassert // of the fixture
	paused.Queue.Paused = true
	p.answers[need] = paused
	p.send(tick(now.Add(5 * time.Second)))
	p.sees("paused: H resumes")
	p.press("H")
	p.wantArg(state.ResumeQueue, "jobs")
	p.press("Vy")
	p.wantArg(state.Redrive, "jobs")
	p.press("xjobs<enter>")
	p.wantArg(state.Purge, "jobs")
	p.press("<enter>y")
	if p.copied != `{"to":"ada"}` {
		t.Errorf("copied %q", p.copied)
	}
	paused.Messages = nil
	p.answers[need] = paused
	p.send(tick(now.Add(10 * time.Second)))
	p.sees("no longer among the next ones")
}

// TestInstances: instances of workflows are paused, resumed and terminated.
func TestInstances(t *testing.T) {
	t.Parallel()
	p := dataOfV7(t)
	p.press("G<enter>")
	p.sees("order-2", "running", "TypeError: no card")
	p.press("H")
	p.wantArg(state.PauseRun, "ORDER", "order-2")
	p.press("<enter>")
	p.sees("params {\"order\":2}", "reserve", "Error: no answer")
	p.press("H")
	p.wantArg(state.ResumeRun, "ORDER", "order-2")
	p.press("x")
	p.sees("Terminate order-2 of ORDER?")
	p.press("y")
	p.wantArg(state.TerminateRun, "ORDER", "order-2")
	p.press("<esc>jx")
	p.sees("Terminate order-1 of ORDER?")
}
