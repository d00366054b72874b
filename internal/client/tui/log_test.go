package tui

import (
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/client/tui/remote"
	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
	"github.com/svcctl/svcctl/pkg/api"
)

// TestLogMarks: a mark stays below its entry, also behind a filter, and is no entry.
func TestLogMarks(t *testing.T) {
	t.Parallel()
	p := sit(t, ui.Place{Screen: "logs", Project: "shop", Version: "v7"})
	need := state.Need{Kind: state.Logs, Project: "shop", Version: "v7"}
	p.press("m")
	p.sees("mark 07:16:30")
	p.send(remote.Batch{state.Lines{Need: need, List: logLines()}})
	p.send(tick(now.Add(time.Minute)))
	p.press("m")
	p.send(remote.Batch{state.Lines{Need: need, List: []api.LogLine{{Time: ago(0), Level: "info", Cursor: "later", Message: "GET /later 200"}}}})
	p.sees("7 entries", "── mark 07:17:30 ──")
	view := p.m.View()
	if strings.Index(view, "evil") > strings.Index(view, "mark 07:17") || strings.Index(view, "mark 07:17") > strings.Index(view, "/later") {
		t.Errorf("the mark is not between the entries:\n%s", view)
	}
	p.press("/GET !later<enter>")
	p.sees("GET /ok", "mark 07:17:30")
	p.lacks("/later 200")
	p.lacks("TypeError")
}

// TestLogSave: what is shown is saved as text in a new file, and nowhere else.
func TestLogSave(t *testing.T) {
	t.Parallel()
	p := sit(t, ui.Place{Screen: "logs", Project: "shop", Version: "v7"})
	p.send(remote.Batch{state.Lines{Need: state.Need{Kind: state.Logs, Project: "shop", Version: "v7"}, List: logLines()}})
	p.press("LLLS<enter>")
	p.sees("saved in shop-v7-20261122-071630.log")
	want := "2026-11-22T07:16:26Z error 0af7651916cd43dd TypeError: boom in deep(x)\n     at deep (src/index.ts:4:9)\n" +
		"2026-11-22T07:16:26Z error 0af7651916cd43dd GET /boom 500 after 3ms\n"
	if got := p.saved["shop-v7-20261122-071630.log"]; got != want {
		t.Errorf("saved %q", got)
	}
	p.press("S<enter>")
	p.sees("file already exists")
	p.press("J")
	p.press("L")
	p.sees(`"items": [`)
}
