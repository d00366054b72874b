package tui

import (
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
	"github.com/svcctl/svcctl/pkg/api"
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

// TestDownload: a value and an object go to a file whose name the person confirms, also when
// nothing may be changed.
func TestDownload(t *testing.T) {
	t.Parallel()
	p := sit(t, ui.Place{Screen: "data", Project: "shop", Version: "v7"}, func(s *state.State) { s.ReadOnly = true })
	p.press("jj<enter>D")
	p.sees("Download a.png", "File that does not exist yet")
	p.press("<enter>")
	p.sees("saved in a.png, 2.0 KiB")
	p.press("D<enter>")
	p.sees(os.ErrExist.Error())
	p.press("<esc>k<enter><enter>")
	p.sees("CACHE › greeting")
	p.press("D.txt<enter>")
	p.sees("saved in greeting.txt")
	want := []state.Download{
		{Project: "shop", Version: "v7", Binding: "FILES", Key: "a.png", Object: true, Path: "a.png"},
		{Project: "shop", Version: "v7", Binding: "CACHE", Key: "greeting", Path: "greeting.txt"},
	}
	if diff := cmp.Diff(want, p.fetched); diff != "" {
		t.Error(diff)
	}
}

// TestDownloadName: the suggested name is a plain one in this directory.
func TestDownloadName(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		"../../etc/passwd": "passwd", "a/b c;d.png": "b_c_d.png", ".bashrc": "bashrc", "-rf": "rf", "..": "download", "\x1b[2J": "__2J", "/": "_",
	} {
		p := dataOfV7(t)
		p.answers[state.Need{Kind: state.Objects, Project: "shop", Version: "v7", Arg: state.JoinArg("FILES", "", "")}] = api.ObjectPage{Items: []api.Object{{Key: key, UploadedAt: now}}}
		p.press("jj<enter>D<enter>")
		if len(p.fetched) != 1 || p.fetched[0].Path != want || p.fetched[0].Key != key {
			t.Errorf("%q: %+v, want %s", key, p.fetched, want)
		}
	}
}

// TestDataDiff: without a parent, the version to compare with is asked for.
func TestDataDiff(t *testing.T) {
	t.Parallel()
	p := dataOfV7(t)
	p.answers[state.Need{Kind: state.DataDiff, Project: "shop", Version: "v7", Arg: "pr-8"}] = api.DataComparison{
		From: api.ComparedData{VersionID: "v7", Written: api.Unmerged{Reason: api.UnmergedReasonUnrelated}}, To: api.ComparedData{VersionID: "pr-8", Written: api.Unmerged{Reason: api.UnmergedReasonUnrelated}},
	}
	p.press("c")
	p.sees("Compare the data of shop/v7", "With the version")
	p.press("pr-8<enter>")
	p.sees("data of v7 and pr-8", "inherited nothing from each other")
	p.press("<esc>")
	parent := "v6"
	v := p.answers[state.Need{Kind: state.Version, Project: "shop", Version: "v7"}].(api.Version) //nolint:forcetypeassert // of the fixture
	v.ParentVersionID = &parent
	p.send(state.Loaded{Need: state.Need{Kind: state.Version, Project: "shop", Version: "v7"}, Value: v, At: now})
	p.press("c")
	p.sees("v7 wrote since", "rows of orders", "≥ 1")
}
