package client

import (
	"context"
	"io"

	"github.com/svcctl/svcctl/pkg/api"
)

// Bindings lists what the worker of a version finds in its env.
//
// Codes: the data codes.
func (c *Client) Bindings(ctx context.Context, project, version string) ([]api.Binding, error) {
	list, err := ask[api.BindingList](ctx, c, get(ofVersion+"/bindings", project, version))
	return list.Items, err
}

// Databases lists the databases of a version.
//
// Codes: the data codes.
func (c *Client) Databases(ctx context.Context, project, version string) ([]api.Database, error) {
	list, err := ask[api.DatabaseList](ctx, c, get(ofVersion+"/database", project, version))
	return list.Items, err
}

// Tables lists the tables of a database. binding names the database; it may be
// "" if the version has one database.
//
// Codes: the data codes, binding_not_found, binding_required, database_busy,
// interrupted, sql_error.
func (c *Client) Tables(ctx context.Context, project, version, binding string) ([]api.Table, error) {
	list, err := ask[api.TableList](ctx, c, get(ofVersion+"/database/tables", project, version).with(api.ListTablesParams{Binding: or(binding)}))
	return list.Items, err
}

// RowsOptions select the database, the order and the page of [Client.Rows].
type RowsOptions struct {
	Page

	Binding    string // name of the database's binding; "" if the version has one database
	OrderBy    string // column to order by; "" for the primary key
	Descending bool
}

// Rows lists one page of a table's rows. The zero RowsOptions is the first page,
// ordered by the primary key.
//
// Codes: the data codes, binding_not_found, binding_required, table_not_found,
// invalid_order_by, invalid_limit, invalid_cursor, database_busy, interrupted,
// sql_error.
func (c *Client) Rows(ctx context.Context, project, version, table string, o RowsOptions) (api.RowPage, error) {
	params := api.ListRowsParams{Limit: or(o.Limit), Cursor: or(o.Cursor), Binding: or(o.Binding), OrderBy: or(o.OrderBy)}
	if o.Descending {
		params.Dir = or(api.ListRowsParamsDirDesc)
	}
	return ask[api.RowPage](ctx, c, get(ofVersion+"/database/tables/{table}/rows", project, version, table).with(params))
}

// Query runs SQL on a database, as one transaction, for 30 seconds at most. It
// is read-only unless q.ReadOnly points to false.
//
// Codes: the data codes, binding_not_found, binding_required, sql_error,
// database_busy, interrupted.
func (c *Client) Query(ctx context.Context, project, version string, q api.DatabaseQuery) ([]api.QueryResult, error) {
	results, err := ask[api.QueryResults](ctx, c, post(ofVersion+"/database/query", project, version).with(c.force).json(q))
	return results.Results, err
}

// ExportDatabase returns a database as a script of SQL. binding names the database; it
// may be "" if the version has one database. The caller closes the script; ctx must live
// until then, and is the only time limit.
//
// Codes: the data codes, binding_not_found, binding_required, database_busy,
// interrupted, sql_error (a virtual table).
func (c *Client) ExportDatabase(ctx context.Context, project, version, binding string) (io.ReadCloser, error) {
	resp, err := c.stream(ctx, get(ofVersion+"/database/export", project, version).with(api.ExportDatabaseParams{Binding: or(binding)}))
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

// Import is a file to import into a database of a version.
type Import struct {
	Project, Version string
	Binding          string           // name of the database's binding; "" if the version has one database
	File             io.Reader        // an SQL script or a SQLite file; read from its start if it can seek
	Progress         func(sent int64) // called with the bytes sent so far; nil for none
}

// ImportDatabase imports a file as one transaction: all of it, or nothing. ctx is
// its only time limit.
//
// Codes: the data codes, binding_not_found, binding_required, sql_error,
// body_required (an empty file), body_incomplete, body_too_large, database_busy,
// interrupted.
func (c *Client) ImportDatabase(ctx context.Context, i Import) (api.DatabaseImport, error) {
	size := int64(-1)
	if f, ok := i.File.(io.Seeker); ok {
		if end, err := f.Seek(0, io.SeekEnd); err == nil { // a pipe cannot
			size = end
			_, _ = f.Seek(0, io.SeekStart)
		}
	}
	params := api.ImportDatabaseParams{Binding: or(i.Binding), Force: c.force.Force}
	progress, over := untilOver(i.Progress)
	defer over()
	body := &counter{next: i.File, progress: progress}
	sent := post(ofVersion+"/database/import", i.Project, i.Version).with(params).sending(body, octets).edited(sized(size))
	return ask[api.DatabaseImport](ctx, c, sent.untimed())
}
