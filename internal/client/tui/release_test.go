package tui

import (
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// released returns a person in front of a project whose production v8 was released from v7-check on
// the data of v7, the safety version. other is unrelated to them.
func released(t *testing.T, at ui.Place) *person {
	t.Helper()
	p := sit(t, ui.Place{Screen: "pulse"})
	held := 84.2
	version := func(id string) api.Version {
		return api.Version{ID: id, ProjectID: "shop", Status: "ready", CreatedAt: ago(0), Events: api.VersionEventsOn}
	}
	v8, v7, check := version("v8"), version("v7"), version("v7-check")
	v8.IsProduction, v8.ReleasedFrom, v7.HandedOverTo, v7.Events, check.Events = true, "v7-check", "v8", api.VersionEventsHandedOver, api.VersionEventsOff
	list := []api.Version{v8, check, v7, version("other")}
	p.answers[state.Need{Kind: state.Projects}] = []api.Project{{ID: "shop", ProdVersionID: "v8", Guard: true, ReadOnly: true}}
	p.answers[state.Need{Kind: state.Versions, Project: "shop"}] = list
	for _, v := range list {
		p.answers[state.Need{Kind: state.Version, Project: "shop", Version: v.ID}] = v
		p.answers[state.Need{Kind: state.ReleasePlan, Project: "shop", Version: v.ID}] = api.ReleasePlan{ProjectID: "shop", VersionID: v.ID, ProductionVersionID: "v8", ExpectedHoldMs: 300, MaxHoldMs: 4000}
	}
	p.answers[state.Need{Kind: state.Promotions, Project: "shop"}] = []api.Promotion{
		{OperationID: "op-8", Kind: api.PromotionKindRelease, ProjectID: "shop", VersionID: "v8", CandidateVersionID: "v7-check", PreviousVersionID: "v7", Status: "done", HeldMs: &held},
		{OperationID: "op-7", Kind: api.PromotionKindPromote, ProjectID: "shop", VersionID: "v7", Status: "done"},
	}
	p.plan("v7", &api.Unmerged{CommonVersionID: "v7", Keys: api.WrittenRecords{Inserted: 25}})
	p.plan("v7-check", &api.Unmerged{CommonVersionID: "v7"})
	p.plan("other", &api.Unmerged{Reason: api.UnmergedReasonUnrelated})
	p.size(160, 40)
	p.press("r")
	p.press(":" + strings.TrimSpace(at.Screen+" "+strings.TrimSuffix(at.Project+"/"+at.Version, "/")) + "<enter>")
	p.size(160, 40)
	return p
}

// plan sets what a promote of a version would leave behind.
func (p *person) plan(version string, u *api.Unmerged) {
	p.answers[state.Need{Kind: state.Plan, Project: "shop", Version: version}] = api.PromotionPlan{ProjectID: "shop", VersionID: version, ProductionVersionID: "v8", Status: "ready", Unmerged: u}
}

// TestReleaseOfACandidate: the release has its plan and names the production that was shown.
func TestReleaseOfACandidate(t *testing.T) {
	t.Parallel()
	p := released(t, ui.Place{Screen: "version", Project: "shop", Version: "v7-check"})
	p.sees("events off", "project read-only", "guard")
	p.press("N")
	p.sees("Release v7-check of shop on the data of v8?", "expected hold  300ms of at most 4.0s", "no write is lost")
	p.press("y")
	p.wantDone("release shop/v7-check")
	p = released(t, ui.Place{Screen: "version", Project: "shop", Version: "v7-check"})
	p.answers[state.Need{Kind: state.ReleasePlan, Project: "shop", Version: "v7-check"}] = api.ReleasePlan{VersionID: "v7-check", Blocked: "release_too_slow: the expected hold is 9s"}
	p.press("Ny")
	p.sees("no answer yet: the release would be refused: release_too_slow")
	p.wantDone()
}

// TestReleasedVersions: the versions of a release say which part of it they were.
func TestReleasedVersions(t *testing.T) {
	t.Parallel()
	p := released(t, ui.Place{Screen: "versions", Project: "shop"})
	p.sees("v7  before v8")
	p = released(t, ui.Place{Screen: "version", Project: "shop", Version: "v7"})
	p.sees("before v8", "handed over to v8")
	p = released(t, ui.Place{Screen: "version", Project: "shop", Version: "v8"})
	p.sees("released from v7-check", "★ released v7-check as v8 · held 84ms")
	p = released(t, ui.Place{Screen: "activity"})
	p.event("promotion.done", "shop", "v8", api.EventData{Status: "done", OperationID: "op-8"})
	p.sees("became production")
	p.size(160, 40) // the answers that the screen found to be needed
	p.sees("released v7-check as v8 · held 84ms")
}

// TestRollbackWays: after a release the rollback asks which data the earlier code shall have.
func TestRollbackWays(t *testing.T) {
	t.Parallel()
	p := released(t, ui.Place{Screen: "versions", Project: "shop"})
	p.press("R")
	p.sees("k back to the code of v7, data kept", "d back to v7 with its data of before v8")
	p.press("yk")
	p.sees("Back to the code of v7, data kept?")
	p.press("y")
	if len(p.done) != 1 || p.done[0].Arg != state.JoinArg("v8", "rollback") {
		t.Errorf("%+v", p.done)
	}
	p.wantDone("release shop/v7")
	p.press("Rd")
	p.sees("Back to v7 with its data of before v8?", "KV keys: 25 new")
	p.press("y")
	if len(p.done) != 1 || p.done[0].Arg != state.JoinArg("v8", "leave writes") {
		t.Errorf("%+v", p.done)
	}
	p.wantDone("rollback shop/v7")
}

// TestForcedRollback: the server refuses earlier code over migrations; the id of the project forces it.
func TestForcedRollback(t *testing.T) {
	t.Parallel()
	p := released(t, ui.Place{Screen: "versions", Project: "shop"})
	p.failWith = &client.Error{Problem: api.Problem{Status: 409, Code: svc.CodeSchemaMoved, Detail: "0004_total.sql was applied since"}}
	p.press("Rky")
	p.wantDone("release shop/v7")
	p.sees("Force the code of v7 on the tables of v8?", "0004_total.sql was applied since", "R and then d", "Type shop")
	p.failWith = nil
	p.press("v7<enter>")
	p.sees("That is not shop.")
	p.wantDone()
	p.press("<back><back>shop<enter>")
	if len(p.done) != 1 || p.done[0].Arg != state.JoinArg("v8", "rollback", "force") {
		t.Errorf("%+v", p.done)
	}
	p.wantDone("release shop/v7")
	p.failWith = &client.Error{Problem: api.Problem{Status: 409, Code: svc.CodeSchemaMoved}}
	p.press("<esc>gjNy") // a release of newer code has nothing to force
	p.lacks("Force")
}

// TestActivityOfPromotes: one row for a promote says what it left behind.
func TestActivityOfPromotes(t *testing.T) {
	t.Parallel()
	p := released(t, ui.Place{Screen: "activity"})
	p.answers[state.Need{Kind: state.Promotions, Project: "shop"}] = []api.Promotion{
		{OperationID: "op-9", Kind: api.PromotionKindPromote, ProjectID: "shop", VersionID: "v9", PreviousVersionID: "v8", Status: "done", Unmerged: &api.Unmerged{Keys: api.WrittenRecords{Inserted: 19}}},
	}
	p.event("promotion.step", "shop", "v9", api.EventData{Step: "drain", OperationID: "op-9"})
	p.event("project.production", "shop", "v9", api.EventData{Previous: "v8"})
	p.event("promotion.done", "shop", "v9", api.EventData{Status: "done", OperationID: "op-9", Previous: "v8"})
	p.sees("became production (was v8)")
	p.size(160, 40) // the answers that the screen found to be needed
	p.sees("shop/v9                  became production, 19 writes left in v8")
	p.lacks("drain")
	if n := strings.Count(p.m.View(), "shop/v9"); n != 1 {
		t.Errorf("%d rows of one promote:\n%s", n, p.m.View())
	}
}

// TestPromoteOfAStranger: where nothing of production's data is in the version, the id of the
// project is typed. A count that failed is no consent.
func TestPromoteOfAStranger(t *testing.T) {
	t.Parallel()
	p := released(t, ui.Place{Screen: "version", Project: "shop", Version: "other"})
	p.press("py")
	p.sees("Production would be empty or unrelated", "nothing of the data of v8 is in other", "svcctl data export shop/v8 --since-cut", "N releases other", "Type shop")
	p.wantDone()
	p.press("<back>shop<enter>")
	if len(p.done) != 1 || p.done[0].Arg != state.JoinArg("v8", "leave writes") {
		t.Errorf("%+v", p.done)
	}
	p.wantDone("promote shop/other")
	delete(p.answers, state.Need{Kind: state.Plan, Project: "shop", Version: "other"})
	p.press("p")
	p.sees("What is not merged was not counted")
	p.press("y")
	if len(p.done) != 1 || p.done[0].Arg != state.JoinArg("v8", "") {
		t.Errorf("%+v", p.done)
	}
}
