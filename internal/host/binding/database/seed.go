package database

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/svc"
)

var _ binding.Seeder = (*database)(nil)

// marksTable is where a database remembers the seeds it has. Its name is one of
// the platform's, so no statement of a user can read or change it.
const marksTable = `CREATE TABLE _cf_seed(path TEXT PRIMARY KEY, imported_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP) WITHOUT ROWID`

// Seed imports the files of s that the database does not have yet, in their
// order: scripts (.sql) and SQLite files (.sqlite, .db). Each is one transaction
// with its mark, so that a failing file, which ends the run, leaves nothing. A
// child has its parent's marks. A SQLite file that has no place in its data is
// marked as well, and is returned with the reason.
func (d *database) Seed(ctx context.Context, s bundle.Seeds, files fs.FS) (done []svc.SeedFile, err error) {
	for _, f := range s.Files {
		did, err := d.seed(ctx, f.Path, files)
		if err != nil {
			return done, d.failedSeed(ctx, f.Path, err)
		}
		done = append(done, did...)
	}
	return done, nil
}

// seed imports or skips one file; did is empty when that happened before.
func (d *database) seed(ctx context.Context, name string, files fs.FS) (did []svc.SeedFile, err error) {
	if known, err := d.isSeeded(ctx, name); err != nil || known {
		return nil, err
	}
	file, err := onDisk(files, name)
	if err != nil {
		return nil, err
	}
	if err := checkForm(name, file); err != nil {
		return nil, err
	}
	src, err := openImport(ctx, file)
	if err != nil {
		return nil, err
	}
	defer src.close()
	_, err = d.take(ctx, src, func(c *raw.Conn) (bool, error) {
		if known, err := marked(c, name); err != nil || known {
			return false, err
		}
		other, err := d.obstacle(c, src)
		f := svc.SeedFile{Path: name}
		if other != "" {
			f.Skipped = "the data has " + other + " already"
		}
		did = []svc.SeedFile{f}
		return other == "", errors.Join(err, mark(c, name))
	})
	return did, err
}

// onDisk is where a file of files lies.
func onDisk(files fs.FS, name string) (string, error) {
	f, err := files.Open(name)
	if err != nil {
		return "", fmt.Errorf("reading a seed: %w", err)
	}
	defer f.Close()
	file, ok := f.(*os.File)
	if !ok {
		return "", fmt.Errorf("the seed %s is not a file on disk but %T", name, f)
	}
	return file.Name(), nil
}

// checkForm holds the name of a file against what is in it.
func checkForm(name, file string) error {
	binary, err := isDatabaseFile(file)
	ext := path.Ext(name)
	switch {
	case err != nil:
		return err
	case ext == ".sql" && binary:
		return said("it is a SQLite file: name it .sqlite")
	case ext == ".sql":
		return nil
	case !slices.Contains([]string{".sqlite", ".db"}, ext):
		return said("a database is seeded by .sql, .sqlite and .db files")
	case !binary:
		return said("it is no SQLite file; a script is named .sql")
	}
	return nil
}

func (d *database) isSeeded(ctx context.Context, name string) (known bool, err error) {
	err = d.db.Read(ctx, func(c *raw.Conn) error {
		known, err = marked(c, name)
		return err
	})
	return known, err
}

func marked(c *raw.Conn, name string) (known bool, err error) {
	found := func(*raw.Stmt) error { known = true; return nil }
	err = c.Query(`SELECT 1 FROM sqlite_schema WHERE name = '_cf_seed'`, nil, found)
	if err != nil || !known {
		return false, err
	}
	known = false
	err = c.Query(`SELECT 1 FROM _cf_seed WHERE path = ?1`, []any{name}, found)
	return known, err
}

func mark(c *raw.Conn, name string) error {
	marks := false
	err := c.Query(`SELECT 1 FROM sqlite_schema WHERE name = '_cf_seed'`, nil, func(*raw.Stmt) error { marks = true; return nil })
	if err == nil && !marks {
		err = c.Script(marksTable)
	}
	if err != nil {
		return err
	}
	return c.Exec(`INSERT INTO _cf_seed (path) VALUES (?1)`, name)
}

func (d *database) failedSeed(ctx context.Context, name string, err error) error {
	text, ok := explainImport(err)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("importing %s: %w", name, errors.Join(context.Cause(ctx), err))
	case !ok:
		return fmt.Errorf("importing %s: %w", name, err)
	}
	return svc.Errorf(svc.Unprocessable, svc.CodeSeedFailed, "%s: %s", name, text).
		WithHint("%s", d.seedHint())
}
