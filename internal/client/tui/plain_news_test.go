package tui

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/client/tui/remote"
	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

// TestPlainAfterAnAction: what an action changed is announced with its result, although its event comes later.
func TestPlainAfterAnAction(t *testing.T) {
	t.Parallel()
	p := versionsOfShop(t)
	need := state.Need{Kind: state.Versions, Project: "shop"}
	list := slices.Clone(p.answers[need].([]api.Version)) //nolint:forcetypeassert // the fixture
	list[2].Pinned = true
	p.answers[need] = list // as the server answers after the action
	got := p.plainly("#1", "P", "q")
	p.wantDone("pin shop/v7")
	if _, after, _ := strings.Cut(got, "shop/v7 done"); !strings.Contains(after, "selected 1. v7, status ready, production, pinned") {
		t.Errorf("got %s", got)
	}
}

// TestPlainRefusals: a refusal is announced each time.
func TestPlainRefusals(t *testing.T) {
	t.Parallel()
	p := versionsOfShop(t)
	if got := p.plainly("#1", "x", "x", "x", "q"); strings.Count(got, "promote another version first") != 3 {
		t.Errorf("got %s", got)
	}
	p.wantDone()
}

// TestPlainNotes: a note that another one replaces before it was announced is announced, too.
func TestPlainNotes(t *testing.T) {
	t.Parallel()
	p := versionsOfShop(t)
	var out svctest.Buffer
	r := newReader(p.m, &out)
	for _, id := range []string{"v6", "pr-8"} {
		r.take(t.Context(), state.Done{Action: state.Action{Verb: state.Archive, Project: "shop", Version: id}, Err: errors.New("the disk of the server is full")})
	}
	r.print()
	for _, id := range []string{"v6", "pr-8"} {
		if want := "archive shop/" + id + ": the disk of the server is full"; strings.Count(out.String(), want) != 1 {
			t.Errorf("%q is not announced once:\n%s", want, out.String())
		}
	}
}

// TestPlainManyLines: entries of a followed log are announced, however many come together, and although some are equal.
func TestPlainManyLines(t *testing.T) {
	t.Parallel()
	p := sit(t, ui.Place{Screen: "logs", Project: "shop", Version: "v7"})
	need := state.Need{Kind: state.Logs, Project: "shop", Version: "v7"}
	var out svctest.Buffer
	r := newReader(p.m, &out)
	r.due = true
	lines := func(text string, n int) remote.Batch {
		var b remote.Batch
		for i := range n {
			b = append(b, state.Lines{Need: need, List: []api.LogLine{{Time: ago(0), Level: "info", Message: text, Cursor: fmt.Sprint(text, i)}}})
		}
		return b
	}
	var first state.Lines
	for _, m := range lines("before", 200) {
		first.List = append(first.List, m.(state.Lines).List...) //nolint:forcetypeassert // made above
	}
	first.Need = need
	r.take(t.Context(), remote.Batch{first})
	r.print()
	r.take(t.Context(), lines("later", 100))
	r.print()
	r.typed(t.Context(), "L") // from info on
	r.typed(t.Context(), "L") // from warn on
	r.print()
	r.take(t.Context(), lines("unwanted", 1))
	r.print()
	got := out.String()
	if n := strings.Count(got, "before"); n != 29 { // a screen: the first line counts them
		t.Errorf("%d of the entries before", n)
	}
	if n := strings.Count(got, "later"); n != 100 {
		t.Errorf("%d of 100 entries", n)
	}
	if strings.Contains(got, "unwanted") || !strings.Contains(got, "level warn and above") {
		t.Errorf("got %s", got)
	}
}
