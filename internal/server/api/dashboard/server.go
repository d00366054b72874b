package dashboard

import (
	"context"
	"iter"

	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// serverURL is the address of the pages about the server.
const serverURL = "/server"

// serverBody is one of the pages about the server.
type serverBody struct {
	Part string // which one
	Info api.Server

	Leases api.LeasePage
	Next   string // address of the next page of Leases
	Routes []api.Route

	Nodes    []api.Node
	Gateways []api.Gateway
}

// server shows what the server is and how it is set. The base domain is the server's own.
// spec: [C16.9].
func (d *Dashboard) server(c *call) error {
	info, err := c.api.ServerInfo(c.r.Context())
	if err != nil {
		return err
	}
	d.showServer(c, "server", "Server", serverBody{Part: "settings", Info: info})
	return nil
}

// leases shows which node owns the data of each version.
func (d *Dashboard) leases(c *call) error {
	q := c.r.URL.Query()
	list, err := c.api.Leases(c.r.Context(), q.Get("project"), client.Page{Limit: pageSize, Cursor: q.Get("cursor")})
	if err != nil {
		return err
	}
	body := serverBody{Part: "leases", Leases: list}
	if list.NextCursor != nil {
		q.Set("cursor", *list.NextCursor)
		body.Next = "?" + q.Encode()
	}
	d.showServer(c, "leases", "Leases", body)
	return nil
}

// allRoutes shows the host names of the gateway.
func (d *Dashboard) allRoutes(c *call) error {
	list, err := c.api.Routes(c.r.Context())
	if err != nil {
		return err
	}
	d.showServer(c, "routes", "Routes", serverBody{Part: "routes", Routes: list.Items})
	return nil
}

// nodes shows the machines or pods that run versions.
func (d *Dashboard) nodes(c *call) error {
	list, err := c.api.Nodes(c.r.Context())
	if err != nil {
		return err
	}
	d.showServer(c, "nodes", "Nodes", serverBody{Part: "nodes", Nodes: list.Items})
	return nil
}

// gateways shows the server's own gateway, and those on other machines.
func (d *Dashboard) gateways(c *call) error {
	list, err := c.api.Gateways(c.r.Context())
	if err != nil {
		return err
	}
	d.showServer(c, "gateways", "Gateways", serverBody{Part: "gateways", Gateways: list.Items})
	return nil
}

func (d *Dashboard) showServer(c *call, name, title string, body serverBody) {
	p := page{Title: title, Tab: "server", Body: body}
	switch body.Part { // the other pages change seldom, or cost requests to the object store
	case "routes", "nodes", "gateways":
		p.Live = "*"
	}
	d.render(c, name, p)
}

// serverLog shows the server's own log, live.
func (d *Dashboard) serverLog(c *call) error {
	q := c.r.URL.Query()
	filter := logQuery(q)
	filter.Tail = logTail
	list, err := c.api.ReadServerLog(c.r.Context(), filter)
	if err != nil {
		return err
	}
	q.Set("cursor", list.NextCursor)
	body := logsBody{Filter: filter, Here: serverURL + "/log", Entries: list.Items, Stream: serverURL + "/log/stream?" + q.Encode(), Server: true}
	d.render(c, "server-log", page{Title: "Log of the server", Tab: "server", Body: serverLogBody{body}})
	return nil
}

// serverLogBody is the page of the server's own log.
type serverLogBody struct{ Part logsBody }

// followServerLog sends the entries that follow.
func (d *Dashboard) followServerLog(c *call) error {
	if _, err := c.api.ReadServerLog(c.r.Context(), client.LogQuery{Tail: 1}); err != nil {
		return err // before the response begins
	}
	return d.follow(c, func(ctx context.Context, q client.LogQuery) iter.Seq2[api.LogLine, error] {
		return c.api.FollowServerLog(ctx, q)
	})
}
