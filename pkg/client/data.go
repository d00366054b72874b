package client

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"
	"sync"

	"github.com/svcctl/svcctl/pkg/api"
)

// Bindings lists what the worker of a version finds in its env [D32]. This and
// the methods below need a version that serves.
func (c *Client) Bindings(ctx context.Context, project, version string) ([]api.Binding, error) {
	resp, err := c.raw.ListBindings(ctx, project, version)
	list, err := as[api.BindingList](read(resp, err))
	return list.Items, err
}

// Databases lists the databases of a version.
func (c *Client) Databases(ctx context.Context, project, version string) ([]api.Database, error) {
	resp, err := c.raw.ListDatabases(ctx, project, version)
	list, err := as[api.DatabaseList](read(resp, err))
	return list.Items, err
}

// Tables lists the tables of the database behind a binding; "" is enough for a
// version with one database.
func (c *Client) Tables(ctx context.Context, project, version, binding string) ([]api.Table, error) {
	resp, err := c.raw.ListTables(ctx, project, version, &api.ListTablesParams{Binding: or(binding)})
	list, err := as[api.TableList](read(resp, err))
	return list.Items, err
}

// Rows gives a page of a table's rows.
func (c *Client) Rows(ctx context.Context, project, version, table string, p api.ListRowsParams) (api.RowPage, error) {
	resp, err := c.raw.ListRows(ctx, project, version, table, &p)
	return as[api.RowPage](read(resp, err))
}

// Query runs SQL on a database, as one transaction. Unless q.ReadOnly points to
// false it cannot write.
func (c *Client) Query(ctx context.Context, project, version string, q api.DatabaseQuery) ([]api.QueryResult, error) {
	resp, err := c.raw.QueryDatabase(ctx, project, version, q)
	results, err := as[api.QueryResults](read(resp, err))
	return results.Results, err
}

// Import is a file for a database of a version.
type Import struct {
	Project, Version string
	Binding          string           // "" is enough for a version with one database
	File             io.Reader        // a script of SQL, or a SQLite file
	Progress         func(sent int64) // nil for none; called with the bytes sent so far
}

// ImportDatabase imports a file. It is one transaction and may take long: ctx
// alone ends it. Nothing is imported when it fails.
func (c *Client) ImportDatabase(ctx context.Context, i Import) (api.DatabaseImport, error) {
	size := int64(-1)
	if f, ok := i.File.(io.Seeker); ok {
		if end, err := f.Seek(0, io.SeekEnd); err == nil { // a pipe cannot
			size = end
			_, _ = f.Seek(0, io.SeekStart)
		}
	}
	params := &api.ImportDatabaseParams{Binding: or(i.Binding)}
	progress, over := untilOver(i.Progress)
	defer over()
	body := &counter{next: i.File, progress: progress}
	resp, err := c.slow.ImportDatabaseWithBody(ctx, i.Project, i.Version, params, "application/octet-stream", body,
		func(_ context.Context, req *http.Request) error {
			req.ContentLength = size
			if size == 0 {
				req.Body = http.NoBody
			}
			return nil
		})
	return as[api.DatabaseImport](read(resp, err))
}

// untilOver is progress up to the moment when over is called: an answer may come
// while a body is still being read.
func untilOver(progress func(int64)) (limited func(int64), over func()) {
	var mu sync.Mutex
	done := progress == nil
	limited = func(sent int64) {
		mu.Lock()
		defer mu.Unlock()
		if !done {
			progress(sent)
		}
	}
	return limited, func() {
		mu.Lock()
		defer mu.Unlock()
		done = true
	}
}

// Namespaces lists the key-value namespaces of a version.
func (c *Client) Namespaces(ctx context.Context, project, version string) ([]api.Namespace, error) {
	resp, err := c.raw.ListNamespaces(ctx, project, version)
	list, err := as[api.NamespaceList](read(resp, err))
	return list.Items, err
}

// Namespace gets the namespace behind a binding.
func (c *Client) Namespace(ctx context.Context, project, version, binding string) (api.Namespace, error) {
	resp, err := c.raw.GetNamespace(ctx, project, version, binding)
	return as[api.Namespace](read(resp, err))
}

// KV is a key-value namespace of a version.
type KV struct {
	Project, Version string
	Binding          string
}

// Keys gives a page of a namespace's keys that begin with prefix.
func (c *Client) Keys(ctx context.Context, kv KV, prefix string, p Page) (api.KeyPage, error) {
	params := &api.ListKeysParams{Prefix: or(prefix), Limit: or(p.Limit), Cursor: or(p.Cursor)}
	resp, err := c.raw.ListKeys(ctx, kv.Project, kv.Version, kv.Binding, params)
	return as[api.KeyPage](read(resp, err))
}

// AllKeys goes through the keys of a namespace that begin with prefix, page by
// page.
func (c *Client) AllKeys(ctx context.Context, kv KV, prefix string) iter.Seq2[api.Key, error] {
	return all(func(cursor string) ([]api.Key, *string, error) {
		page, err := c.Keys(ctx, kv, prefix, Page{Limit: 1000, Cursor: cursor})
		return page.Items, page.NextCursor, err
	})
}

// Value is what is stored under a key.
type Value struct {
	Data       []byte
	Metadata   string // JSON, or ""
	Expiration int64  // seconds since 1970; 0 when it never expires
}

// GetValue gets a value; the code of the refusal is "key_not_found" when there
// is none.
func (c *Client) GetValue(ctx context.Context, kv KV, key string) (Value, error) {
	if err := checkKey(key); err != nil {
		return Value{}, err
	}
	resp, err := c.raw.GetValue(ctx, kv.Project, kv.Version, kv.Binding, key)
	data, err := read(resp, err)
	if err != nil {
		return Value{}, err
	}
	v := Value{Data: data, Metadata: resp.Header.Get("Svc-Kv-Metadata")}
	if text := resp.Header.Get("Svc-Kv-Expiration"); text != "" {
		if v.Expiration, err = strconv.ParseInt(text, 10, 64); err != nil {
			return Value{}, fmt.Errorf("the answer is not what the API promises: %w", err)
		}
	}
	return v, nil
}

// PutValue stores what data gives. The zero api.PutValueParams stores it
// for ever and without metadata.
func (c *Client) PutValue(ctx context.Context, kv KV, key string, data io.Reader, p api.PutValueParams) error {
	if err := checkKey(key); err != nil {
		return err
	}
	resp, err := c.raw.PutValueWithBody(ctx, kv.Project, kv.Version, kv.Binding, key, &p, "application/octet-stream", data)
	_, err = read(resp, err)
	return err
}

// DeleteValue deletes a key. One that is not there is no error.
func (c *Client) DeleteValue(ctx context.Context, kv KV, key string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	resp, err := c.raw.DeleteValue(ctx, kv.Project, kv.Version, kv.Binding, key)
	_, err = read(resp, err)
	return err
}

// checkKey refuses the keys that would be other paths. No namespace has them.
func checkKey(key string) error {
	if key == "" || key == "." || key == ".." {
		return &Error{Status: http.StatusBadRequest, Problem: api.Problem{
			Status: http.StatusBadRequest, Code: "invalid_key", Title: "Invalid key", Detail: fmt.Sprintf("%q cannot be a key", key),
		}}
	}
	return nil
}
