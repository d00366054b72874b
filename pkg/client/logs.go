package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"iter"

	"github.com/svcctl/svcctl/pkg/api"
)

// LogQuery selects entries of a log. The zero value selects the last 100 ones.
type LogQuery struct {
	Tail    int    // maximum number of entries; 0 is the service's default
	Cursor  string // continue after this position
	Since   string // a time in RFC 3339, or a duration such as "10m"
	Level   string // at least: debug, info, warn or error
	Status  string // "404", or "5xx"
	Path    string // "*" stands for any text
	Request string // a request id, or its first four characters or more
	Search  string // text of the message
}

// logs asks for the log of a version, or of the project's production if version is "".
func (q LogQuery) logs(project, version string, follow bool) request {
	params := api.ListLogsParams{
		Tail: or(q.Tail), Cursor: q.Cursor, Since: q.Since, Level: q.Level, Status: q.Status, Path: q.Path, Request: q.Request, Search: q.Search,
		Follow: follow,
	}
	if version == "" {
		return get("/projects/{project}/logs", project).with(params)
	}
	return get(ofVersion+"/logs", project, version).with(params)
}

// Logs returns the last entries of a version's log, oldest first. tail is their
// maximum number; 0 is the service's default.
//
// Codes: version_not_found, version_destroyed, invalid_tail.
func (c *Client) Logs(ctx context.Context, project, version string, tail int) ([]api.LogLine, error) {
	page, err := c.ReadLogs(ctx, project, version, LogQuery{Tail: tail})
	return page.Items, err
}

// ReadLogs returns a part of the log of a version, or of the project's production if
// version is "".
//
// Codes: project_not_found, version_not_found, version_destroyed, invalid_tail,
// invalid_cursor, invalid_parameter.
func (c *Client) ReadLogs(ctx context.Context, project, version string, q LogQuery) (api.LogLines, error) {
	return ask[api.LogLines](ctx, c, q.logs(project, version, false))
}

// ReadServerLog returns a part of the server's own log. Of q, Status, Path and Request have
// no effect.
//
// Codes: invalid_tail, invalid_cursor, invalid_parameter.
func (c *Client) ReadServerLog(ctx context.Context, q LogQuery) (api.LogLines, error) {
	return ask[api.LogLines](ctx, c, get("/server/log").with(q.serverParams(false)))
}

// FollowServerLog yields the entries that [Client.ReadServerLog] returns, and then each new
// one, as [Client.FollowLogs] does.
//
// Codes: invalid_tail, invalid_cursor, invalid_parameter.
func (c *Client) FollowServerLog(ctx context.Context, q LogQuery) iter.Seq2[api.LogLine, error] {
	return c.follow(ctx, get("/server/log").with(q.serverParams(true)))
}

func (q LogQuery) serverParams(follow bool) api.ListServerLogParams {
	return api.ListServerLogParams{Tail: or(q.Tail), Cursor: q.Cursor, Since: q.Since, Level: q.Level, Search: q.Search, Follow: follow}
}

// FollowLogs yields the entries that [Client.ReadLogs] returns, and then each new one. Of
// a project's production, the next one follows a promote. It ends with ctx, with an error,
// or when the service stops; continue with the cursor of the last entry.
//
// Codes: project_not_found, version_not_found, version_destroyed, invalid_tail,
// invalid_cursor, invalid_parameter.
func (c *Client) FollowLogs(ctx context.Context, project, version string, q LogQuery) iter.Seq2[api.LogLine, error] {
	return c.follow(ctx, q.logs(project, version, true))
}

// follow yields the entries of a response without end.
func (c *Client) follow(ctx context.Context, log request) iter.Seq2[api.LogLine, error] {
	return func(yield func(api.LogLine, error) bool) {
		resp, err := c.stream(ctx, log)
		if err != nil {
			yield(api.LogLine{}, err)
			return
		}
		defer resp.Body.Close()
		lines := bufio.NewScanner(resp.Body)
		lines.Buffer(nil, maxAnswer)
		for lines.Scan() {
			var entry api.LogLine
			if len(bytes.TrimSpace(lines.Bytes())) == 0 {
				continue // a sign of life
			}
			if err := json.Unmarshal(lines.Bytes(), &entry); err != nil {
				yield(entry, unexpected(err))
				return
			}
			if !yield(entry, nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(api.LogLine{}, transportError(err))
		}
	}
}
