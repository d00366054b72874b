package tui

import (
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
	"github.com/svcctl/svcctl/pkg/api"
)

// TestPins: a pin by a person and the pin of a previous production have their own words.
func TestPins(t *testing.T) {
	t.Parallel()
	for _, screen := range []string{"versions", "tree"} {
		p := released(t, ui.Place{Screen: "pulse"})
		list := p.answers[state.Need{Kind: state.Versions, Project: "shop"}].([]api.Version) //nolint:forcetypeassert // the fixture
		for i, by := range []api.VersionPinnedBy{"", api.VersionPinnedByUser, api.VersionPinnedByRollback} {
			list[i].Pinned, list[i].PinnedBy = by != "", by
		}
		p.press(":" + screen + " shop<enter>r")
		p.size(120, 40)
		p.sees("PIN", " pinned ", " rollback ")
	}
}

// TestSelectedBesideTheList: a wide terminal shows the selected version beside the list.
func TestSelectedBesideTheList(t *testing.T) {
	t.Parallel()
	p := versionsOfShop(t)
	p.size(170, 40)
	p.press("<down><down>")
	p.sees("│ url      https://pr-8.shop.example.com", "│ data     from staging", "│ warning  main has no index on orders.customer")
	p.press("<up>")
	p.sees("│ error    deploying: startup_exception")
	p.lacks("no index")
	p.size(150, 40)
	p.lacks("│")
}

// TestFailureInSources: places of a failure are those of the sources.
func TestFailureInSources(t *testing.T) {
	t.Parallel()
	p := sit(t, ui.Place{Screen: "pulse"})
	failed := p.answers[state.Need{Kind: state.Version, Project: "shop", Version: "pr-9"}].(api.Version) //nolint:forcetypeassert // the fixture
	failed.Error, failed.ErrorInSources = "deploying: it threw at index.js:3:3", "deploying: it threw at src/index.ts:1:24"
	failed.ErrorOutput, failed.ErrorOutputInSources = "out index.js:3:3", "out src/index.ts:1:24"
	failed.Timeline = []api.StepRun{{Step: "deploying", Status: "failed", StartedAt: ago(0), Detail: failed.Error}}
	p.answers[state.Need{Kind: state.Version, Project: "shop", Version: "pr-9"}] = failed
	p.answers[state.Need{Kind: state.Broken}] = []api.Version{failed}
	p.press("r")
	p.size(120, 40)
	p.sees("src/index.ts:1:24")
	p.press(":version shop/pr-9<enter>")
	p.size(120, 40)
	if n := strings.Count(p.m.View(), "src/index.ts:1:24"); n != 3 {
		t.Errorf("%d places in sources:\n%s", n, p.m.View())
	}
	p.lacks("index.js:3:3")
}
