package dashboard

import (
	"context"
	"net/http"

	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/client"
)

// view answers a request of a session. Its error becomes a page.
type view func(c *call) error

// call is one request with its session, and the API as the token of the session sees it.
// Without a session, session and api are nil.
type call struct {
	w       http.ResponseWriter
	r       *http.Request
	session *session
	api     *client.Client
	cursor  string // of the events before the view reads anything
}

// page registers a view that only reads.
func (d *Dashboard) page(pattern string, v view) {
	d.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		c, ok := d.open(w, r)
		if !ok {
			return
		}
		err := c.mark(r.Context())
		if err == nil {
			err = v(c)
		}
		if err != nil {
			d.fail(c, err)
		}
	})
}

// mark remembers the end of the events, so that a page misses none.
func (c *call) mark(ctx context.Context) error {
	if c.r.Method != http.MethodGet || c.r.Header.Get("Sec-Fetch-Mode") == "cors" {
		return nil
	}
	now, err := c.api.ReadEvents(ctx, client.EventQuery{})
	c.cursor = now.NextCursor
	return err
}

// ref returns the version in the path of the request.
func (c *call) ref() svc.Ref {
	return svc.Ref{Project: c.r.PathValue("project"), Version: c.r.PathValue("version")}
}
