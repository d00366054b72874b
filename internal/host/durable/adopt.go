package durable

import (
	"context"

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

// adopt makes the rows those of version: rows of another one are its parent's, whose alarms
// stay behind. It removes the objects of deleted classes and returns the generation of the
// files that continue the rows.
func adopt(ctx context.Context, db volume.Database, version string, deleted []string) (generation string, err error) {
	return generation, db.Write(ctx, func(c *raw.Conn) error {
		return c.InTx("BEGIN IMMEDIATE", func() error {
			owner := ""
			err := c.Query(`SELECT version, generation FROM durable_meta`, nil, func(s *raw.Stmt) error {
				owner, generation = s.Text(0), s.Text(1)
				return nil
			})
			if err == nil && owner != version {
				generation, err = "", inherit(c, version)
			}
			for _, key := range deleted {
				if err == nil {
					err = dropAll(c, sqlOfClass, key)
				}
			}
			return err
		})
	})
}

func inherit(c *raw.Conn, version string) error {
	if err := dropAll(c, sqlAlarms); err != nil {
		return err
	}
	return c.Exec(`INSERT INTO durable_meta (id, version, epoch, generation) VALUES (1, ?1, 1, '')
		ON CONFLICT (id) DO UPDATE SET version = excluded.version, epoch = epoch + 1, generation = ''`, version)
}
