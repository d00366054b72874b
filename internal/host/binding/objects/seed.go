package objects

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/svc"
)

var _ binding.Seeder = (*bucket)(nil)

// The seeds that buckets have.
const (
	sqlMarks = `CREATE TABLE IF NOT EXISTS object_seed (
		bucket INTEGER NOT NULL REFERENCES object_bucket (id),
		path   TEXT NOT NULL,
		PRIMARY KEY (bucket, path)
	) STRICT, WITHOUT ROWID`
	sqlMarked = `SELECT 1 FROM object_seed WHERE bucket = ?1 AND path = ?2`
	sqlMark   = `INSERT INTO object_seed (bucket, path) VALUES (?1, ?2)`
)

// Seed imports the files of s that the bucket does not have yet: each is an
// object, whose key is the file's path behind seed/<binding>/. An object and its
// mark are one transaction. A child has its parent's marks, and an object that it
// has from its parent stays: the file is marked and not imported.
func (b *bucket) Seed(ctx context.Context, s bundle.Seeds, files fs.FS) (imported []svc.SeedFile, err error) {
	if err := b.write(ctx, func(c *raw.Conn) error { return c.Exec(sqlMarks) }); err != nil {
		return nil, err
	}
	for _, f := range s.Files {
		key, ok := strings.CutPrefix(f.Path, bundle.SeedPath(s.Binding)+"/")
		if !ok || key == "" || !utf8.ValidString(key) {
			return imported, seedError(f.Path, "an object store is seeded by the files below "+bundle.SeedPath(s.Binding)+"/")
		}
		done, err := b.seed(ctx, f.Path, key, files)
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
func (b *bucket) seed(ctx context.Context, path, key string, files fs.FS) (done bool, err error) {
	known := false
	err = b.db.Read(ctx, func(c *raw.Conn) error {
		return c.Query(sqlMarked, []any{b.id, path}, func(*raw.Stmt) error { known = true; return nil })
	})
	if err != nil || known {
		return false, err
	}
	mark := func(c *raw.Conn) error { return c.Exec(sqlMark, b.id, path) }
	kept, err := b.inherits(ctx, key)
	if err == nil && kept {
		err = b.write(ctx, mark)
	}
	if err != nil || kept {
		return false, err
	}
	file, err := files.Open(path)
	if err != nil {
		return false, fmt.Errorf("reading a seed: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return false, fmt.Errorf("reading a seed: %w", err)
	}
	if _, err = b.put(ctx, &request{Object: &key}, file, info.Size(), mark); err == nil {
		return true, nil
	}
	if r := refusalOf(err); r.code != codeInternal {
		return false, seedError(path, r.text)
	}
	return false, fmt.Errorf("importing %s: %w", path, err)
}

// inherits is true when key names an object that came from a parent.
func (b *bucket) inherits(ctx context.Context, key string) (found bool, err error) {
	if b.db.History().Parent == "" {
		return false, nil
	}
	err = b.db.Read(ctx, func(c *raw.Conn) error {
		return c.Query(sqlFind, []any{b.id, key}, func(*raw.Stmt) error { found = true; return nil })
	})
	return found, err
}

func seedError(path, text string) error {
	return svc.Errorf(svc.Unprocessable, svc.CodeSeedFailed, "%s: %s", path, text).
		WithHint("this file was not imported; correct it and deploy again")
}
