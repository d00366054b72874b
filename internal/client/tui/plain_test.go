package tui

import (
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/svcctl/svcctl/internal/client/tui/remote"
	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

// plainly answers lines that are typed in the interface for a screen reader.
func (p *person) plainly(lines ...string) string {
	p.t.Helper()
	var out svctest.Buffer
	newReader(p.m, &out).run(p.t.Context(), strings.NewReader(strings.Join(lines, "\n")+"\n"))
	return out.String()
}

// TestPlain: what a session with a screen reader prints. Nothing in it is drawn.
func TestPlain(t *testing.T) {
	t.Parallel()
	p := sit(t, ui.Place{Screen: "projects"})
	got := p.plainly(
		"versions shop", "#3", "mark", "/pull", "esc", "p", "maybe", "n", "#9", "#5", "x", "v7", "v6", "enter", ":version shop/pr-8",
		"tree shop", "data shop/v7", "enter", "enter", "pulse", "nonsense", "?", "q",
	)
	svctest.Golden(t, "testdata/plain.golden", got)
	p.wantDone("destroy shop/v6")
	if i := strings.IndexAny(got, "●★✗│─█▁\x1b\x07"); i >= 0 {
		t.Errorf("drawn: %q", got[i:min(i+40, len(got))])
	}
}

// TestPlainLog: entries that come while the log is followed are printed once.
func TestPlainLog(t *testing.T) {
	t.Parallel()
	p := sit(t, ui.Place{Screen: "logs", Project: "shop", Version: "v7"})
	need := state.Need{Kind: state.Logs, Project: "shop", Version: "v7"}
	var out svctest.Buffer
	r := newReader(p.m, &out)
	r.due = true
	r.take(t.Context(), remote.Batch{state.Lines{Need: need, List: logLines()}})
	r.print()
	r.take(t.Context(), remote.Batch{state.Lines{Need: need, List: []api.LogLine{{Time: ago(0), Level: "info", Message: "GET /later 200"}}}})
	r.print()
	r.take(t.Context(), remote.Batch{state.Link{At: now}})
	r.print()
	r.take(t.Context(), remote.Batch{state.Link{Up: true, At: now}})
	r.print()
	got := out.String()
	for _, once := range []string{"TypeError: boom", "GET /later 200", "no answer for", "The server answers again."} {
		if strings.Count(got, once) != 1 {
			t.Errorf("%q is announced %d times:\n%s", once, strings.Count(got, once), got)
		}
	}
}

// TestMouse: clicks and the wheel move the cursor below what stands above a table.
func TestMouse(t *testing.T) {
	t.Parallel()
	p := sit(t, ui.Place{Screen: "version", Project: "shop", Version: "pr-8", Arg: "env"})
	click := func(text string) {
		t.Helper()
		for y, l := range strings.Split(p.m.View(), "\n") {
			if strings.Contains(l, text) {
				p.send(tea.MouseMsg{Y: y, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress})
			}
		}
		p.sees(">" + text)
	}
	click("NEW")
	p.send(tea.MouseMsg{Button: tea.MouseButtonWheelDown})
	p.sees(">SVC_VERSION_ID")
	p.press(":data shop/v7<enter>")
	click("jobs")
	p.press("<enter>")
	click("07:16:29")
	p.press(":server<enter>")
	click("PLATFORM_PORT")
	p.press(":pulse<enter>")
	click("blog")
}
