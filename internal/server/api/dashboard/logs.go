package dashboard

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"net/url"

	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// logTail is the number of entries that a page begins with.
const logTail = 300

// logsBody is a log with what selects its entries.
type logsBody struct {
	Filter  client.LogQuery
	Entries []api.LogLine
	Stream  string // address of the entries that follow
	Here    string // address of the page
	Project bool   // the log of a project's production
	Server  bool   // the server's own log
}

// Any reports whether the filter leaves entries out.
func (b logsBody) Any() bool {
	f := b.Filter
	return f.Level+f.Status+f.Path+f.Request+f.Search != ""
}

// logQuery returns what the address of a page selects.
func logQuery(q url.Values) client.LogQuery {
	return client.LogQuery{
		Level: q.Get("level"), Status: q.Get("status"), Path: q.Get("path"), Request: q.Get("request"), Search: q.Get("search"),
		Since: q.Get("since"), Cursor: q.Get("cursor"),
	}
}

// readLogs returns the last entries and the address of the next ones.
func readLogs(c *call, project, version, here string) (logsBody, error) {
	q := c.r.URL.Query()
	body := logsBody{Filter: logQuery(q), Here: here}
	query := body.Filter
	query.Tail = logTail
	list, err := c.api.ReadLogs(c.r.Context(), project, version, query)
	body.Entries = list.Items
	q.Set("cursor", list.NextCursor)
	body.Stream = here + "/stream?" + q.Encode()
	return body, err
}

// versionLogs shows the log of a version.
func (d *Dashboard) versionLogs(c *call) error {
	ref := c.ref()
	v, err := c.api.Version(c.r.Context(), ref.Project, ref.Version)
	if err != nil {
		return err
	}
	body, err := readLogs(c, ref.Project, ref.Version, versionURL(ref.Project, ref.Version, "logs"))
	if err != nil {
		return err
	}
	return d.showVersion(c, "logs", v, body)
}

// projectLogs shows the log of a project's production.
func (d *Dashboard) projectLogs(c *call) error {
	project := c.r.PathValue("project")
	body, err := readLogs(c, project, "", projectURL(project, "logs"))
	if err != nil {
		return err
	}
	body.Project = true
	d.render(c, "project-logs", page{Title: "Logs of " + project, Tab: "logs", Place: place{Project: project}, Live: project, Body: versionBody{Part: body}})
	return nil
}

// followLogs sends the entries that follow.
func (d *Dashboard) followLogs(c *call) error {
	ref := c.ref()
	return d.follow(c, func(ctx context.Context, q client.LogQuery) iter.Seq2[api.LogLine, error] {
		return c.api.FollowLogs(ctx, ref.Project, ref.Version, q)
	})
}

// follow sends entries, each as the HTML of its row.
func (d *Dashboard) follow(c *call, entries func(context.Context, client.LogQuery) iter.Seq2[api.LogLine, error]) error {
	ctx, cancel := context.WithDeadline(c.r.Context(), c.session.expiry)
	defer cancel()
	q := logQuery(c.r.URL.Query())
	if last := c.r.Header.Get("Last-Event-ID"); last != "" {
		q.Cursor = last
	}
	out := newStream(c.w)
	if err := out.begin(); err != nil {
		return nil // the browser left
	}
	for entry, err := range entries(ctx, q) {
		if err == nil {
			var row bytes.Buffer
			err = d.pages["logs"].ExecuteTemplate(&row, "log-entry", entry)
			if err == nil {
				err = out.sendJSON(entry.Cursor, row.String())
			}
		}
		if err != nil {
			return nil // the browser connects again
		}
	}
	return nil
}

// sendJSON sends a value as the data of one event.
func (s *stream) sendJSON(id string, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return s.send(id, data)
}
