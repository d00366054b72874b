package dashboard

import (
	"cmp"
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
		list, err := c.api.ReadEvents(ctx, client.EventQuery{Tail: 200, Limit: 200})
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
