package objects

import (
	"fmt"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
)

// schema is what every bucket of a database lives in. Times are milliseconds since
// 1970. Bodies come last, so that listing does not read them.
const schema = `
CREATE TABLE IF NOT EXISTS object_bucket (
	id   INTEGER PRIMARY KEY,
	name TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE IF NOT EXISTS object_entry (
	id        INTEGER PRIMARY KEY,
	bucket    INTEGER NOT NULL REFERENCES object_bucket (id),
	key       TEXT NOT NULL,
	version   TEXT NOT NULL,
	size      INTEGER NOT NULL,
	etag      TEXT NOT NULL,
	uploaded  INTEGER NOT NULL,
	class     TEXT NOT NULL,
	checksums TEXT,              -- JSON, without the MD5 that etag is; NULL none
	http      TEXT,              -- JSON; NULL none
	custom    TEXT,              -- JSON; NULL none
	body      BLOB,              -- NULL: it is in blobs
	UNIQUE (bucket, key)
) STRICT;
CREATE TABLE IF NOT EXISTS object_blob (
	entry  INTEGER NOT NULL REFERENCES object_entry (id),
	number INTEGER NOT NULL,     -- the order in the body
	size   INTEGER NOT NULL,
	blob   TEXT NOT NULL,
	PRIMARY KEY (entry, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS object_upload (
	id      TEXT PRIMARY KEY,
	bucket  INTEGER NOT NULL REFERENCES object_bucket (id),
	key     TEXT NOT NULL,
	created INTEGER NOT NULL,
	state   INTEGER NOT NULL,    -- 0 open, 1 completed, 2 aborted
	class   TEXT NOT NULL,
	http    TEXT,
	custom  TEXT
) STRICT;
CREATE INDEX IF NOT EXISTS object_upload_created ON object_upload (created);
CREATE TABLE IF NOT EXISTS object_part (
	upload TEXT NOT NULL REFERENCES object_upload (id),
	number INTEGER NOT NULL,
	size   INTEGER NOT NULL,
	md5    TEXT NOT NULL,
	blob   TEXT NOT NULL,
	PRIMARY KEY (upload, number)
) STRICT, WITHOUT ROWID;`

// The statements of the hot paths, each prepared once per connection.
const (
	entryColumns = `id, key, version, size, etag, uploaded, class, checksums, http, custom`
	sqlHead      = `SELECT ` + entryColumns + ` FROM object_entry WHERE bucket = ?1 AND key = ?2`
	sqlGet       = `SELECT ` + entryColumns + `, body FROM object_entry WHERE bucket = ?1 AND key = ?2`
	sqlBlobs     = `SELECT size, blob FROM object_blob WHERE entry = ?1 ORDER BY number`
	sqlPut       = `INSERT INTO object_entry (bucket, key, version, size, etag, uploaded, class, checksums, http, custom, body)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
		ON CONFLICT (bucket, key) DO UPDATE SET
			version = excluded.version, size = excluded.size, etag = excluded.etag, uploaded = excluded.uploaded,
			class = excluded.class, checksums = excluded.checksums, http = excluded.http, custom = excluded.custom, body = excluded.body
		RETURNING id`
	sqlPutBlob   = `INSERT INTO object_blob (entry, number, size, blob) VALUES (?1, ?2, ?3, ?4)`
	sqlFind      = `SELECT id FROM object_entry WHERE bucket = ?1 AND key = ?2`
	sqlDelete    = `DELETE FROM object_entry WHERE id = ?1`
	sqlDropBlobs = `DELETE FROM object_blob WHERE entry = ?1`
	sqlMeasure   = `SELECT count(*), coalesce(sum(size), 0) FROM object_entry WHERE bucket = ?1`
	// ?2 the key to continue after, ?3 the least key, ?4 the first key beyond or NULL.
	sqlList = `SELECT ` + entryColumns + ` FROM object_entry
		WHERE bucket = ?1 AND key > ?2 AND key >= ?3 AND (?4 IS NULL OR key < ?4)
		ORDER BY key LIMIT ?5`
	sqlLast = `SELECT max(key) FROM object_entry WHERE bucket = ?1 AND key >= ?2 AND (?3 IS NULL OR key < ?3)`
)

// prepare makes the tables, and the row of the bucket name.
func prepare(c *raw.Conn, name string) (id int64, err error) {
	err = c.InTx("BEGIN IMMEDIATE", func() error {
		if err := c.Script(schema); err != nil {
			return fmt.Errorf("making the tables of object stores: %w", err)
		}
		if err := c.Exec(`INSERT INTO object_bucket (name) VALUES (?1) ON CONFLICT DO NOTHING`, name); err != nil {
			return err
		}
		return c.Query(`SELECT id FROM object_bucket WHERE name = ?1`, []any{name}, func(s *raw.Stmt) error {
			id = s.Int64(0)
			return nil
		})
	})
	return id, err
}
