package dashboard

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// activityBody is what happened on the server.
type activityBody struct {
	Queue  api.DeployQueue
	Events []activityRow
}

// activityRow is an event in words.
type activityRow struct {
	api.Event
	About string // who or what it is about
	Said  string // what happened
	Bad   bool
}

// activity shows the deploys under way and the last events, newest first.
func (d *Dashboard) activity(c *call) error {
	var body activityBody
	group, ctx := errgroup.WithContext(c.r.Context())
	group.Go(func() (err error) { body.Queue, err = c.api.DeployQueue(ctx); return err })
	group.Go(func() error {
		list, err := c.api.ReadEvents(ctx, client.EventQuery{Tail: 200, Limit: 200}) //nolint:mnd // the last ones
		body.Events = c.sentences(ctx, list.Items)
		return err
	})
	if err := group.Wait(); err != nil {
		return err
	}
	slices.Reverse(body.Events)
	d.render(c, "activity", page{Title: "Activity", Tab: "activity", Live: "*", Body: body})
	return nil
}

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

// auditBody is a page of the audit record.
type auditBody struct {
	Items  []auditRow
	Filter client.AuditFilter
	Next   string
}

// auditRow is a record with what it changed, as text.
type auditRow struct {
	api.AuditRecord
	Said    string
	Changes []string
}

// audit shows who changed what.
func (d *Dashboard) audit(c *call) error {
	q := c.r.URL.Query()
	body := auditBody{Filter: client.AuditFilter{Project: q.Get("project"), Version: q.Get("version"), Action: q.Get("action"), Since: q.Get("since")}}
	list, err := c.api.Audit(c.r.Context(), body.Filter, client.Page{Limit: pageSize, Cursor: q.Get("cursor")})
	if err != nil {
		return err
	}
	for _, a := range list.Items {
		row := auditRow{AuditRecord: a, Said: svc.AuditSentence(a.Action, a.ProjectID, a.VersionID, a.Status)}
		for key, value := range a.After {
			if text := changeOf(a.Before[key], value); text != "" {
				row.Changes = append(row.Changes, clip(key+" "+text))
			}
		}
		slices.Sort(row.Changes)
		body.Items = append(body.Items, row)
	}
	if list.NextCursor != nil {
		q.Set("cursor", *list.NextCursor)
		body.Next = "?" + q.Encode()
	}
	d.render(c, "audit", page{Title: "Audit", Tab: "audit", Body: body})
	return nil
}

// changeOf returns what a field was and is; "" for a field that stays empty.
func changeOf(before, after any) string {
	text := func(v any) string {
		if v == nil {
			return ""
		}
		return strings.TrimPrefix(fmt.Sprint(v), "map[]")
	}
	was, is := text(before), text(after)
	if was == is {
		return ""
	}
	if was == "" {
		return is
	}
	return was + " → " + cmp.Or(is, "none")
}

// bundle shows what a version was deployed from.
func bundle(c *call, v api.Version) (any, error) {
	return c.api.Bundle(c.r.Context(), v.ProjectID, v.ID)
}
