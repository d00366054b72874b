package kv

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/svc"
)

var _ binding.Seeder = (*namespace)(nil)

// The seeds that namespaces have.
const (
	sqlMarks = `CREATE TABLE IF NOT EXISTS kv_seed (
		namespace INTEGER NOT NULL REFERENCES kv_namespace (id),
		path      TEXT NOT NULL,
		PRIMARY KEY (namespace, path)
	) STRICT`
	sqlMarked = `SELECT 1 FROM kv_seed WHERE namespace = ?1 AND path = ?2`
	sqlMark   = `INSERT INTO kv_seed (namespace, path) VALUES (?1, ?2)`
	// ?6 is the newest row that stays unchanged, unless it has expired by ?7.
	sqlSeed = sqlPut + ` WHERE kv_entry.id > ?6 OR kv_entry.expiration <= ?7`
)

// Seed imports the files of s that the namespace does not have yet: JSON lines,
// each an object of wrangler's bulk format. A file is one transaction with its
// mark. Keys that have expired by now are left out, and so are those that a child
// has from its parent, as are the parent's marks.
func (n *namespace) Seed(ctx context.Context, s bundle.Seeds, files fs.FS) (imported []svc.SeedFile, err error) {
	for _, f := range s.Files {
		done, err := n.seed(ctx, f.Path, files)
		if err != nil {
			return imported, err
		}
		if done {
			imported = append(imported, svc.SeedFile{Path: f.Path})
		}
	}
	return imported, nil
}

// seed imports one file; done is false when it was imported before.
func (n *namespace) seed(ctx context.Context, name string, files fs.FS) (done bool, err error) {
	if path.Ext(name) != ".jsonl" {
		return false, seedError(name, "a key-value namespace is seeded by .jsonl files")
	}
	file, err := files.Open(name)
	if err != nil {
		return false, fmt.Errorf("reading a seed: %w", err)
	}
	defer file.Close()
	err = n.db.Write(ctx, func(c *raw.Conn) error {
		return c.InTx("BEGIN IMMEDIATE", func() error {
			if err := c.Script(sqlMarks); err != nil {
				return err
			}
			known := false
			err := c.Query(sqlMarked, []any{n.id, name}, func(*raw.Stmt) error { known = true; return nil })
			if err != nil || known {
				return err
			}
			done = true
			kept, err := n.inherited(c)
			if err != nil {
				return err
			}
			if err := n.lines(ctx, c, name, file, kept); err != nil {
				return err
			}
			return c.Exec(sqlMark, n.id, name)
		})
	})
	if ctx.Err() != nil && err != nil {
		err = errors.Join(context.Cause(ctx), err)
	}
	if _, ok := errors.AsType[*svc.Error](err); err != nil && !ok {
		err = fmt.Errorf("importing %s: %w", name, err)
	}
	return done && err == nil, err
}

// inherited is the newest row that a seed does not change: a child's data wins.
// A root has none, for there a later seed may change what an earlier one brought.
func (n *namespace) inherited(c *raw.Conn) (row int64, err error) {
	if n.db.History().Parent == "" {
		return 0, nil
	}
	err = c.Query(`SELECT coalesce(max(id), 0) FROM kv_entry`, nil, func(s *raw.Stmt) error { row = s.Int64(0); return nil })
	return row, err
}
