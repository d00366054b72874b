package dashboard

import (
	"context"
	"slices"

	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// maxProjects is how many projects are asked for the promotions behind events.
const maxProjects = 5

// sentences says in words what happened: one row for each deploy, promote and release. A project that
// does not answer has its promotions without what they left behind.
func (c *call) sentences(ctx context.Context, events []api.Event) (rows []activityRow) {
	done := c.promoted(ctx, events)
	for _, e := range events {
		about, said := happening(e).Sentence()
		if p, ok := done[e.Data.OperationID]; ok && e.Type == promotionDone {
			said = became(p)
		}
		if said != "" {
			rows = append(rows, activityRow{e, about, said, e.Data.Error != "" || e.Data.Status == string(api.VersionStatusFailed)})
		}
	}
	return rows
}

// promoted returns the promotions that ended among the events, by operation.
func (c *call) promoted(ctx context.Context, events []api.Event) map[string]api.Promotion {
	done, asked := map[string]api.Promotion{}, map[string]bool{}
	for _, e := range slices.Backward(events) {
		if e.Type != promotionDone || e.Data.Status != string(api.PromotionStatusDone) || asked[e.ProjectID] || len(asked) == maxProjects {
			continue
		}
		asked[e.ProjectID] = true
		list, _ := c.api.Promotions(ctx, e.ProjectID, client.Page{Limit: pageSize})
		for _, p := range list.Items {
			done[p.OperationID] = p
		}
	}
	return done
}

// became says what a promotion did, and what it left behind.
func became(p api.Promotion) string {
	if isRelease(p) {
		return "became production: " + releasedAs(p)
	}
	const said = "became production"
	switch {
	case p.PreviousVersionID == "" || p.Unmerged == nil:
		return said
	case apart(p.Unmerged):
		return said + ", all data left in " + p.PreviousVersionID
	case p.Unmerged.Reason == api.UnmergedReasonUnavailable:
		return said + ", what is left in " + p.PreviousVersionID + " was not counted"
	case !stays(p.Unmerged):
		return said + " (was " + p.PreviousVersionID + ")"
	}
	n, atLeast := records(*p.Unmerged)
	text := count(int(n), "write", "writes") + " left in " + p.PreviousVersionID
	if atLeast {
		text = "at least " + text
	}
	return said + ", " + text
}

// happening is an event of the API as the one that has words.
func happening(e api.Event) svc.FeedEvent {
	d := e.Data
	return svc.FeedEvent{Type: e.Type, Project: e.ProjectID, Version: e.VersionID, Data: svc.FeedData{
		Status: d.Status, Previous: d.Previous, Detail: d.Detail, Error: d.Error, GitRef: d.GitRef, Action: d.Action, Actor: d.Actor,
	}}
}

// promotionDone is the type of the event at the end of a promotion.
const promotionDone = "promotion.done"
