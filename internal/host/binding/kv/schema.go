package kv

import (
	"fmt"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
)

// schema is what every namespace of a database lives in. Small columns come
// first, so that listing does not read values. A value is in the row; blob is
// for one that is kept elsewhere.
const schema = `
CREATE TABLE IF NOT EXISTS kv_namespace (
	id   INTEGER PRIMARY KEY,
	name TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE IF NOT EXISTS kv_entry (
	id         INTEGER PRIMARY KEY,
	namespace  INTEGER NOT NULL REFERENCES kv_namespace (id),
	key        TEXT NOT NULL,
	expiration INTEGER,          -- seconds since 1970; NULL never
	metadata   TEXT,             -- JSON; NULL none
	blob       TEXT,
	value      BLOB,
	UNIQUE (namespace, key)
) STRICT;
CREATE INDEX IF NOT EXISTS kv_entry_expiration ON kv_entry (expiration) WHERE expiration IS NOT NULL;`

// The statements of the hot paths, each prepared once per connection.
const (
	sqlGet = `SELECT metadata, value, expiration FROM kv_entry
		WHERE namespace = ?1 AND key = ?2 AND (expiration IS NULL OR expiration > ?3)`
	sqlPut = `INSERT INTO kv_entry (namespace, key, expiration, metadata, value) VALUES (?1, ?2, ?3, ?4, ?5)
		ON CONFLICT (namespace, key) DO UPDATE SET
			expiration = excluded.expiration, metadata = excluded.metadata, blob = NULL, value = excluded.value`
	sqlDelete = `DELETE FROM kv_entry WHERE namespace = ?1 AND key = ?2`
	// Only heads of values are read for their lengths.
	sqlMeasure = `SELECT count(*), coalesce(sum(length(value)), 0) FROM kv_entry
		WHERE namespace = ?1 AND (expiration IS NULL OR expiration > ?2)`
	sqlSweep = `DELETE FROM kv_entry WHERE id IN (
		SELECT id FROM kv_entry WHERE expiration IS NOT NULL AND expiration <= ?1 LIMIT ?2)`
	// ?2 the key to continue after, ?3 the prefix, ?4 the first key beyond it or NULL.
	sqlList = `SELECT key, expiration, metadata FROM kv_entry
		WHERE namespace = ?1 AND key > ?2 AND key >= ?3 AND (?4 IS NULL OR key < ?4)
			AND (expiration IS NULL OR expiration > ?5)
		ORDER BY key LIMIT ?6`
	sqlListAll = `SELECT key, expiration, metadata FROM kv_entry
		WHERE namespace = ?1 AND key > ?2 AND (expiration IS NULL OR expiration > ?3)
		ORDER BY key LIMIT ?4`
)

// prepare makes the tables, and the row of the namespace name.
func prepare(c *raw.Conn, name string, now int64) (id int64, err error) {
	err = c.InTx("BEGIN IMMEDIATE", func() error {
		if err := c.Script(schema); err != nil {
			return fmt.Errorf("making the tables of key-value namespaces: %w", err)
		}
		if err := c.Exec(`INSERT INTO kv_namespace (name) VALUES (?1) ON CONFLICT DO NOTHING`, name); err != nil {
			return err
		}
		if err := c.Exec(sqlSweep, now, sweepAtOpen); err != nil {
			return err
		}
		return c.Query(`SELECT id FROM kv_namespace WHERE name = ?1`, []any{name}, func(s *raw.Stmt) error {
			id = s.Int64(0)
			return nil
		})
	})
	return id, err
}
