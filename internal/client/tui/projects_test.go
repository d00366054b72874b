package tui

import (
	"testing"

	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
	"github.com/svcctl/svcctl/pkg/api"
)

// TestProjects: counts and the last deploy follow the events, and a project is deleted after
// its id was typed.
func TestProjects(t *testing.T) {
	t.Parallel()
	p := sit(t, ui.Place{Screen: "projects"})
	p.size(240, 24)
	p.sees("1 failed, 3 ready, 1 archived", "✗ failed 10s pr-9 pull/9", "90.0 MiB")
	p.loads = nil
	p.event("version.created", "shop", "pr-10", api.EventData{Status: "pending", GitRef: "pull/10"})
	p.sees("1 failed, 1 deploying, 3 ready, 1 archived", "◌ pending 0s pr-10 pull/10")
	p.event("version.status", "shop", "pr-10", api.EventData{Status: "deploying", Previous: "pending"})
	p.event("version.status", "shop", "pr-10", api.EventData{Status: "ready", Previous: "deploying"})
	p.event("version.destroyed", "shop", "pr-9", api.EventData{Status: "destroyed", Previous: "failed"})
	p.sees("4 ready, 1 archived", "● ready 0s pr-10 pull/10")
	if len(p.loads) != 0 {
		t.Errorf("read: %v", p.loads)
	}
	p.press("x")
	p.sees("Delete the project shop?", "production   v7")
	p.press("shop<enter>")
	p.wantArg(state.Delete, "v7")
	p.event("project.deleted", "shop", "", api.EventData{})
	p.lacks("v7")
	p.sees("blog")
}
