package tui

import (
	"slices"
	"testing"

	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
	"github.com/svcctl/svcctl/pkg/api"
)

// wantArg fails the test unless one action was started, with these parts of its Arg.
func (p *person) wantArg(verb state.Verb, arg ...string) {
	p.t.Helper()
	if len(p.done) != 1 || p.done[0].Verb != verb || p.done[0].Arg != state.JoinArg(arg...) {
		p.t.Errorf("done: %+v, want %s %q", p.done, verb, arg)
	}
	p.done = nil
}

// TestEnv: variables are set and unset after a question; values are shown on request
// only, and read again after a change from elsewhere.
func TestEnv(t *testing.T) {
	t.Parallel()
	p := sit(t, ui.Place{Screen: "version", Project: "shop", Version: "pr-8"})
	p.press("e")
	p.sees("[env]", "override, over bundle", "(hidden, 7 bytes)", "SVC_VERSION_ID", "NEW                          bundle                1 ") // a variable of the project file is no secret
	p.lacks("hunter2")
	p.press("enew<enter>")
	p.sees("Set API_KEY of shop/pr-8?", "The worker restarts")
	p.press("n")
	p.wantDone()
	p.press("enew=value<enter>y")
	p.wantArg(state.SetVar, "API_KEY", "new=value")
	p.press("v")
	p.sees("hunter2")
	p.press("e2<enter>y")
	p.wantArg(state.SetVar, "API_KEY", "hunter22")
	p.press("aMORE<enter>")
	p.sees("want NAME=VALUE")
	p.press("aMORE=<enter>y")
	p.wantArg(state.SetVar, "MORE", "")
	p.press("u")
	p.sees("Delete the override API_KEY of shop/pr-8?")
	p.press("y")
	p.wantArg(state.UnsetVar, "API_KEY")
	p.press("ju")
	p.sees("NEW comes from the bundle")
	p.press("/svc<enter>")
	p.lacks("hunter2")
	env := state.Need{Kind: state.Env, Project: "shop", Version: "pr-8"}
	p.answers[env] = []api.EnvEntry{{Key: "SVC_LATER", Source: api.EnvSourceOverride}}
	p.event("env.changed", "shop", "pr-8", api.EventData{})
	p.sees("SVC_LATER")
}

// TestCompare: with the production, and with another version; read again after a promote.
func TestCompare(t *testing.T) {
	t.Parallel()
	p := sit(t, ui.Place{Screen: "version", Project: "shop", Version: "pr-8"})
	p.press("c")
	p.sees("[compare]", "main/0003_index.sql", "esm 7.8 KiB")
	p.loads = nil
	p.event("project.production", "shop", "v6", api.EventData{Previous: "v7"})
	if want := (state.Need{Kind: state.Compare, Project: "shop", Version: "pr-8"}); !slices.Contains(p.loads, want) {
		t.Errorf("read after a promote: %v", p.loads)
	}
	p.press("cv6<enter>")
	p.sees("v6 and pr-8 do not differ")
	p.press("cv5<enter>")
	p.sees("the service does not answer")
}
