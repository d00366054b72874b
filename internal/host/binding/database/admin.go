package database

import (
	"context"
	"errors"
	"net/http"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/svc"
)

var (
	_ binding.Admin    = Kind{}
	_ binding.Measured = (*database)(nil)
	_ binding.Stored   = (*database)(nil)
)

// visitors is the number of concurrent API requests of a database: workers
// need its connections.
const visitors = 2

// Admin gives the operations on databases [D33][D34].
func (Kind) Admin(open []binding.Opened) map[string]binding.Operation {
	a := admin{open}
	return map[string]binding.Operation{
		"GET /database":                     a.databases,
		"GET /database/tables":              a.one(a.tables),
		"GET /database/tables/{table}/rows": a.one(a.rows),
		"POST /database/query":              a.query,
		"POST /database/import":             a.importFile,
		"GET /database/export":              a.export,
	}
}

type admin struct{ open []binding.Opened }

// one finds the database that the query of a URL names by its binding.
func (a admin) one(do func(*database, http.ResponseWriter, *http.Request) error) binding.Operation {
	return func(w http.ResponseWriter, r *http.Request) error {
		return a.visit(r, r.URL.Query().Get("binding"), func(d *database, r *http.Request) error { return do(d, w, r) })
	}
}

// visit runs fn on the database behind a binding when its turn comes, for the
// time of a query at most.
func (a admin) visit(r *http.Request, name string, fn func(*database, *http.Request) error) error {
	d, err := a.named(name)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), maxDuration)
	defer cancel()
	leave, err := d.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	return ended(r, fn(d, r.WithContext(ctx)))
}

// enter waits for its turn among the requests of the API.
func (d *database) enter(ctx context.Context) (leave func(), err error) {
	select {
	case d.visitors <- struct{}{}:
		return func() { <-d.visitors }, nil
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.Canceled) {
			return nil, interrupted(ctx.Err())
		}
		return nil, svc.Errorf(svc.Unavailable, svc.CodeDatabaseBusy, "other requests to look into this database take too long").Because(ctx.Err())
	}
}

// ended is the error of a request: interrupted if it was canceled after its turn came.
func ended(r *http.Request, err error) error {
	switch {
	case svc.CodeOf(err) == svc.CodeDatabaseBusy: // caused by a deadline, which is not that of a statement
		return err
	case err == nil || r.Context().Err() == nil:
		return sqlError(err)
	}
	return interrupted(err)
}

// interrupted is the error of a request that was canceled.
func interrupted(err error) error {
	return svc.Errorf(svc.Unavailable, svc.CodeInterrupted, "the request was interrupted").Because(err)
}

// named is the database of the binding of that name: see binding.Pick.
func (a admin) named(name string) (*database, error) {
	o, err := binding.Pick(a.open, name, "database")
	if err != nil {
		return nil, err
	}
	return databaseOf(o)
}

func databaseOf(o binding.Opened) (*database, error) {
	return binding.InstanceOf[*database](o, "database")
}

// sqlError gives what the engine and D1's rules refuse its code in the API.
func sqlError(err error) error {
	var engine *raw.Error
	var words said
	switch {
	case errors.Is(err, errNeedWrite):
		return svc.Errorf(svc.Unprocessable, svc.CodeSQLError, "this statement writes, and the query is read-only").
			WithHint("set read_only to false to let it write").At("/read_only")
	case errors.As(err, &words), errors.As(err, &engine), errors.Is(err, context.DeadlineExceeded):
		return svc.Errorf(svc.Unprocessable, svc.CodeSQLError, "%s", describe(err))
	}
	return err
}

// listedDatabase is one row of GET /database. The TXIDs are transactions of the
// database's log.
type listedDatabase struct {
	Binding  string `json:"binding"`
	Name     string `json:"name"`
	Size     int64  `json:"size_bytes"`
	Tables   int64  `json:"tables"`
	ForkTXID string `json:"fork_txid"`
	HeadTXID string `json:"head_txid"`
}

func (a admin) databases(w http.ResponseWriter, r *http.Request) error {
	items := make([]listedDatabase, 0, len(a.open))
	for _, o := range a.open {
		d, err := databaseOf(o)
		if err != nil {
			return err
		}
		stats, err := d.Stats(r.Context())
		if err != nil {
			return err
		}
		at := d.History()
		items = append(items, listedDatabase{
			Binding: o.Name, Name: o.Resource, Size: stats["size_bytes"], Tables: stats["tables"],
			ForkTXID: at.ForkTXID(), HeadTXID: at.HeadTXID(),
		})
	}
	return binding.WriteItems(w, items)
}

// History is that of its file.
func (d *database) History() volume.History { return d.db.History() }

// Stats tells the size and the number of tables, without the engine's own.
func (d *database) Stats(ctx context.Context) (map[string]int64, error) {
	stats := map[string]int64{}
	err := d.db.Read(ctx, func(c *raw.Conn) error {
		stats["size_bytes"] = size(c)
		return c.Query(countTables, nil, func(s *raw.Stmt) error {
			stats["tables"] = s.Int64(0)
			return nil
		})
	})
	return stats, err
}
