package durable

import (
	"context"
	"errors"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/data/volume"
)

// Open prepares the tables, for those who only count.
func Open(ctx context.Context, v volume.Volumes) (volume.Database, error) {
	db, err := v.Database(ctx, Database)
	if err != nil {
		return nil, err
	}
	return db, db.Write(ctx, func(c *raw.Conn) error {
		return c.InTx("BEGIN IMMEDIATE", func() error { return c.Script(schema) })
	})
}

// adopt makes the rows those of the version of c: rows of another one are its parent's, whose alarms
// stay behind unless the version continues them. It removes the objects of deleted classes and
// returns the generation of the files that continue the rows.
func adopt(ctx context.Context, db volume.Database, c Config) (generation string, err error) {
	return generation, db.Write(ctx, func(conn *raw.Conn) error {
		return conn.InTx("BEGIN IMMEDIATE", func() error {
			owner := ""
			err := conn.Query(`SELECT version, generation FROM durable_meta`, nil, func(s *raw.Stmt) error {
				owner, generation = s.Text(0), s.Text(1)
				return nil
			})
			if err == nil && owner != c.Version {
				generation, err = "", inherit(conn, c.Version, c.Continues)
			}
			for _, key := range c.Deleted {
				if err == nil {
					err = errors.Join(dropAll(conn, sqlOfClass, key), dropAll(conn, sqlOfClass, asideClass+key))
				}
			}
			return err
		})
	})
}

// inherit begins a version with the rows of its parent. The alarms of a class are one of its files,
// and the record of an alarm in an object is ignored when the epoch of the object is an earlier one.
// So a version that continues the alarms keeps both the files and the epoch. Its next opening finds
// rows of its own, so this happens once.
func inherit(c *raw.Conn, version string, continues bool) error {
	older := 0
	if !continues {
		older = 1
		if err := dropAll(c, sqlAlarms); err != nil {
			return err
		}
	}
	return c.Exec(`INSERT INTO durable_meta (id, version, epoch, generation) VALUES (1, ?1, 1, '')
		ON CONFLICT (id) DO UPDATE SET version = excluded.version, epoch = epoch + ?2, generation = ''`, version, older)
}
