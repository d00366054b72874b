package dashboard

import (
	"net/http"

	"github.com/svcctl/svcctl/pkg/api"
)

const (
	maxCell  = 500      // characters of a cell of a table
	maxValue = 64 << 10 // bytes of a value that is shown
)

// store is something with data that a version is bound to.
type store struct {
	Kind, Name string
	Size       string // for people
}

// dataBody is what the data browser shows: the stores, and one of them.
type dataBody struct {
	Stores []store
	Kind   string // of the store that is shown; "" for none
	Name   string
	Table  string
	Tables []api.Table
	SQL    string
	Grids  []grid
	Failed string // why SQL failed
	Prefix string
	Key    string
	Value  *shownValue
	Next   string // address of the next page

	Queue    *api.Queue                  // of a queue
	Instance *api.WorkflowInstanceDetail // of an instance of a workflow
}

// grid is a table of texts.
type grid struct {
	Columns []string
	Rows    [][]cell
	Note    string
}

// cell is one text of a grid; To is an address, "" for none.
type cell struct {
	Text, To string
	Null     bool
}

// shownValue is the content of one key.
type shownValue struct {
	Text, Note string
	Was        string // digest of a value that a form can change; "" for another one
}

// data shows what the bindings of a version hold.
func data(c *call, v api.Version) (any, error) {
	if !c.session.mayWrite() {
		return nil, &statusError{http.StatusForbidden, "The token of this session may not read the data of bindings."}
	}
	if v.Status != api.VersionStatusReady && v.Status != api.VersionStatusDraining {
		return dataBody{}, nil
	}
	body := dataBody{Kind: c.r.PathValue("kind"), Name: c.r.PathValue("name")}
	if err := body.listStores(c, v); err != nil {
		return nil, err
	}
	if body.Kind == "" && len(body.Stores) > 0 {
		body.Kind, body.Name = body.Stores[0].Kind, body.Stores[0].Name
	}
	show := map[string]func(*call, api.Version) error{
		"": func(*call, api.Version) error { return nil }, "d1": body.showDatabase, "kv": body.showKeys, "r2": body.showObjects, "queue": body.showQueue, "workflow": body.showWorkflow,
	}[body.Kind]
	if show == nil {
		return nil, &statusError{http.StatusNotFound, "There is no such kind of data."}
	}
	if err := show(c, v); err != nil {
		return nil, err
	}
	return body, nil
}

// listStores lists what a version has of data.
func (b *dataBody) listStores(c *call, v api.Version) error {
	ctx := c.r.Context()
	databases, err := c.api.Databases(ctx, v.ProjectID, v.ID)
	if err != nil {
		return err
	}
	namespaces, err := c.api.Namespaces(ctx, v.ProjectID, v.ID)
	if err != nil {
		return err
	}
	buckets, err := c.api.Buckets(ctx, v.ProjectID, v.ID)
	if err != nil {
		return err
	}
	queues, err := c.api.Queues(ctx, v.ProjectID, v.ID)
	if err != nil {
		return err
	}
	workflows, err := c.api.Workflows(ctx, v.ProjectID, v.ID)
	for _, s := range databases {
		b.Stores = append(b.Stores, store{"d1", s.Binding, size(s.SizeBytes)})
	}
	for _, s := range namespaces {
		b.Stores = append(b.Stores, store{"kv", s.Binding, count(int(s.Keys), "key", "keys")})
	}
	for _, s := range buckets {
		b.Stores = append(b.Stores, store{"r2", s.Binding, count(int(s.Objects), "object", "objects")})
	}
	for _, s := range queues {
		b.Stores = append(b.Stores, store{"queue", s.Name, count(int(s.Ready+s.Delayed+s.Inflight), "message", "messages")})
	}
	for _, s := range workflows {
		b.Stores = append(b.Stores, store{"workflow", s.Name, s.ClassName})
	}
	return err
}
