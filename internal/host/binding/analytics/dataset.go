package analytics

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/host/binding"
)

const (
	columns  = 20              // blobs, and doubles
	maxWrite = 64 << 20        // bytes of a request
	stamp    = time.DateTime   // of rows, as SQLite's datetime() has it
	cleaning = 1 * time.Minute // between two looks at old rows
)

// dataset is the Instance of a dataset.
type dataset struct {
	name   string
	db     volume.Database
	keep   time.Duration
	insert string
	clean  atomic.Int64 // when old rows were deleted, in nanoseconds since 1970
}

// point is a data point as client.js sends it.
type point struct {
	Index   string    `json:"index"`
	Blobs   []string  `json:"blobs"`
	Doubles []float64 `json:"doubles"`
}

func open(ctx context.Context, name string, db volume.Database, keep time.Duration) (*dataset, error) {
	d := &dataset{name: name, db: db, keep: keep}
	table := `"` + name + `"`
	fields, names := []string{`timestamp TEXT NOT NULL`, `index1 TEXT NOT NULL`, `_sample_interval INTEGER NOT NULL DEFAULT 1`}, []string{"timestamp", "index1"}
	for _, kind := range []string{"blob", "double"} {
		for i := 1; i <= columns; i++ {
			column := fmt.Sprintf("%s%d", kind, i)
			fields, names = append(fields, column+map[string]string{"blob": " TEXT", "double": " REAL"}[kind]+" NOT NULL"), append(names, column)
		}
	}
	d.insert = `INSERT INTO ` + table + ` (` + strings.Join(names, ", ") + `) VALUES (?1` + strings.Repeat(", ?", len(names)-1) + `)`
	schema := `CREATE TABLE IF NOT EXISTS ` + table + ` (` + strings.Join(fields, ", ") + `) STRICT;
		CREATE INDEX IF NOT EXISTS "` + name + `.timestamp" ON ` + table + ` (timestamp);`
	err := db.Write(ctx, func(c *raw.Conn) error { return c.InTx("BEGIN IMMEDIATE", func() error { return c.Script(schema) }) })
	if err != nil {
		return nil, fmt.Errorf("opening the dataset %q: %w", name, err)
	}
	return d, nil
}

// ServeHTTP stores data points.
func (d *dataset) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	err := d.write(r)
	_, _ = io.Copy(io.Discard, r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	binding.Reply(w, "text/plain")
}

func (d *dataset) write(r *http.Request) error {
	var large binding.Large
	defer large.Release()
	body, err := large.ReadBody(r, maxWrite)
	if err != nil {
		return err
	}
	var points []point
	if err := json.Unmarshal(body, &points); err != nil {
		return fmt.Errorf("reading data points: %w", err)
	}
	now := time.Now()
	return d.db.Write(r.Context(), func(c *raw.Conn) error {
		return c.InTx("BEGIN IMMEDIATE", func() error {
			for _, p := range points {
				if err := c.Exec(d.insert, p.values(now)...); err != nil {
					return fmt.Errorf("storing a data point: %w", err)
				}
			}
			return d.deleteOld(c, now)
		})
	})
}

// values are those of the columns of insert.
func (p point) values(now time.Time) []any {
	list := []any{now.UTC().Format(stamp), p.Index}
	for i := range columns {
		blob := ""
		if i < len(p.Blobs) {
			blob = p.Blobs[i]
		}
		list = append(list, blob)
	}
	for i := range columns {
		double := 0.0
		if i < len(p.Doubles) {
			double = p.Doubles[i]
		}
		list = append(list, double)
	}
	return list
}

// deleteOld deletes rows that are older than the retention, at most once a minute.
func (d *dataset) deleteOld(c *raw.Conn, now time.Time) error {
	if d.keep == 0 || now.UnixNano()-d.clean.Load() < int64(cleaning) {
		return nil
	}
	if err := c.Exec(`DELETE FROM "`+d.name+`" WHERE timestamp < ?1`, now.Add(-d.keep).UTC().Format(stamp)); err != nil {
		return fmt.Errorf("deleting old data points: %w", err)
	}
	d.clean.Store(now.UnixNano())
	return nil
}

// Stats tells the number of rows.
func (d *dataset) Stats(ctx context.Context) (map[string]int64, error) {
	var rows int64
	err := d.db.Read(ctx, func(c *raw.Conn) error {
		return c.Query(`SELECT count(*) FROM "`+d.name+`"`, nil, func(s *raw.Stmt) error { rows = s.Int64(0); return nil })
	})
	return map[string]int64{"rows": rows}, err
}

// History is that of the database.
func (d *dataset) History() volume.History { return d.db.History() }

// Close leaves the database to its owner.
func (*dataset) Close() error { return nil }
