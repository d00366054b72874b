package client

import (
	"context"
	"io"
	"net/http"

	"github.com/svcctl/svcctl/pkg/api"
)

// Bindings lists what the worker of a version finds in its env.
//
// Codes: the data codes.
func (c *Client) Bindings(ctx context.Context, project, version string) ([]api.Binding, error) {
	list, err := as[api.BindingList](read(c.raw.ListBindings(ctx, project, version)))
	return list.Items, err
}

// Databases lists the databases of a version.
//
// Codes: the data codes.
func (c *Client) Databases(ctx context.Context, project, version string) ([]api.Database, error) {
	list, err := as[api.DatabaseList](read(c.raw.ListDatabases(ctx, project, version)))
	return list.Items, err
}

// Tables lists the tables of a database. binding names the database; it may be
// "" if the version has one database.
//
// Codes: the data codes, binding_not_found, binding_required, database_busy,
// interrupted, sql_error.
func (c *Client) Tables(ctx context.Context, project, version, binding string) ([]api.Table, error) {
	list, err := as[api.TableList](read(c.raw.ListTables(ctx, project, version, &api.ListTablesParams{Binding: or(binding)})))
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
	params := &api.ListRowsParams{Limit: or(o.Limit), Cursor: or(o.Cursor), Binding: or(o.Binding), OrderBy: or(o.OrderBy)}
	if o.Descending {
		params.Dir = or(api.ListRowsParamsDirDesc)
	}
	return as[api.RowPage](read(c.raw.ListRows(ctx, project, version, table, params)))
}

// Query runs SQL on a database, as one transaction, for 30 seconds at most. It
// is read-only unless q.ReadOnly points to false.
//
// Codes: the data codes, binding_not_found, binding_required, sql_error,
// database_busy, interrupted.
func (c *Client) Query(ctx context.Context, project, version string, q api.DatabaseQuery) ([]api.QueryResult, error) {
	results, err := as[api.QueryResults](read(c.raw.QueryDatabase(ctx, project, version, &api.QueryDatabaseParams{Force: c.force}, q)))
	return results.Results, err
}

// ExportDatabase returns a database as a script of SQL. binding names the database; it
// may be "" if the version has one database. The caller closes the script; ctx must live
// until then, and is the only time limit.
//
// Codes: the data codes, binding_not_found, binding_required, database_busy,
// interrupted, sql_error (a virtual table).
func (c *Client) ExportDatabase(ctx context.Context, project, version, binding string) (io.ReadCloser, error) {
	resp, err := c.slow.ExportDatabase(ctx, project, version, &api.ExportDatabaseParams{Binding: or(binding)})
	if err != nil || resp.StatusCode != http.StatusOK {
		_, err = read(resp, err)
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
	params := &api.ImportDatabaseParams{Binding: or(i.Binding), Force: c.force}
	progress, over := untilOver(i.Progress)
	defer over()
	body := &counter{next: i.File, progress: progress}
	return as[api.DatabaseImport](read(c.slow.ImportDatabaseWithBody(ctx, i.Project, i.Version, params, octets, body, sized(size))))
}
