package crashtest

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"strings"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
)

// Content is a hash of everything that a user can see in a database: the schema
// and every row. VACUUM and the place of pages do not change it.
func Content(c *raw.Conn) (string, error) {
	var tables []string
	sum := sha256.New()
	err := c.Query(`SELECT name, sql FROM sqlite_schema ORDER BY name, sql`, nil, func(s *raw.Stmt) error {
		fmt.Fprintf(sum, "%q %q\n", s.Text(0), s.Text(1))
		if strings.HasPrefix(s.Text(1), "CREATE TABLE") {
			tables = append(tables, s.Text(0))
		}
		return nil
	})
	for _, t := range tables {
		if err == nil {
			err = rows(c, sum, t)
		}
	}
	return fmt.Sprintf("%x", sum.Sum(nil)[:12]), err
}

// rows adds the rows of a table, in the order in which it keeps them.
func rows(c *raw.Conn, sum hash.Hash, table string) error {
	name := `"` + strings.ReplaceAll(table, `"`, `""`) + `"`
	text := `SELECT rowid, * FROM ` + name + ` ORDER BY rowid`
	err := c.Query(`SELECT wr FROM pragma_table_list(?)`, []any{table}, func(s *raw.Stmt) error {
		if s.Int64(0) != 0 { // it has no rowid, and is read in the order of its key
			text = `SELECT * FROM ` + name
		}
		return nil
	})
	if err != nil {
		return err
	}
	return c.Query(text, nil, func(s *raw.Stmt) error {
		for i := range s.Columns() {
			fmt.Fprintf(sum, "%d %d:", s.ColumnType(i), len(s.View(i)))
			sum.Write(s.View(i))
		}
		return nil
	})
}

// Sound checks that a file that no process has open is an intact database, and
// returns the hash of its content.
func Sound(path string) (content string, err error) {
	c, err := raw.Open(path, raw.Options{})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	return Check(c)
}

// Check checks that a database is intact, and returns the hash of its content.
func Check(c *raw.Conn) (content string, err error) {
	var bad []error
	err = c.Query(`PRAGMA integrity_check`, nil, func(s *raw.Stmt) error {
		if text := s.Text(0); text != "ok" {
			bad = append(bad, errors.New(text))
		}
		return nil
	})
	if err = errors.Join(append(bad, err)...); err != nil {
		return "", err
	}
	return Content(c)
}
