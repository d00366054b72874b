package durable

import (
	"bytes"
	"context"
	"fmt"

	"github.com/pierrec/lz4/v4"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/data/volume"
)

// Database is the name of the database with the rows.
const Database = "durable"

// schema keeps the pages of all objects. The id of a page is that of its object times 2^32,
// plus its number. A page is compressed with LZ4 unless it has 4096 bytes.
const schema = `
CREATE TABLE IF NOT EXISTS durable_meta (
	id         INTEGER PRIMARY KEY CHECK (id = 1),
	version    TEXT NOT NULL,    -- whose rows these are
	epoch      INTEGER NOT NULL, -- one more in each child that begins without alarms
	generation TEXT NOT NULL     -- of the files that continue the rows
) STRICT;
CREATE TABLE IF NOT EXISTS durable_closed (
	id   INTEGER PRIMARY KEY CHECK (id = 1),
	mark TEXT NOT NULL -- of the list of files that are as in the rows
) STRICT;
CREATE TABLE IF NOT EXISTS durable_object (
	id    INTEGER PRIMARY KEY,
	class TEXT NOT NULL,    -- the directory; for alarms that are set aside see asideClass
	name  TEXT NOT NULL,    -- the file, without .sqlite; see nameOf
	pages INTEGER NOT NULL,
	epoch INTEGER NOT NULL, -- of the last change; an earlier one: as the parent left it
	UNIQUE (class, name)
) STRICT;
CREATE TABLE IF NOT EXISTS durable_page (
	id   INTEGER PRIMARY KEY,
	data BLOB NOT NULL
) STRICT;`

const (
	sqlPut = `INSERT INTO durable_object (class, name, pages, epoch) SELECT ?1, ?2, ?3, epoch FROM durable_meta
		WHERE true ON CONFLICT (class, name) DO UPDATE SET pages = excluded.pages, epoch = excluded.epoch
		WHERE pages <> excluded.pages OR durable_object.epoch <> excluded.epoch`
	sqlID       = `SELECT id FROM durable_object WHERE class = ?1 AND name = ?2`
	sqlPutPage  = `INSERT INTO durable_page (id, data) VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET data = excluded.data WHERE data <> excluded.data`
	sqlCutPages = `DELETE FROM durable_page WHERE id > ?1 AND id < ?2`
	sqlDrop     = `DELETE FROM durable_object WHERE id = ?1`
	sqlOfClass  = `SELECT id FROM durable_object WHERE class = ?1`
	sqlObjects  = `SELECT o.id, o.class, o.name, o.pages, o.epoch < m.epoch FROM durable_object o, durable_meta m ORDER BY o.id`
	sqlFamily   = `SELECT o.id, o.class, o.name, o.pages, o.epoch < m.epoch FROM durable_object o, durable_meta m
		WHERE o.class = ?1 AND o.name >= ?2 AND o.name < ?2 || '/' ORDER BY o.name DESC` // "." is before "/", and what follows a name begins with "."
	sqlFacets = `SELECT class, name FROM durable_object WHERE name LIKE '%.%'`
	sqlAlarms = `WITH RECURSIVE c(class) AS (SELECT min(class) FROM durable_object
		UNION ALL SELECT (SELECT min(o.class) FROM durable_object o WHERE o.class > c.class) FROM c WHERE c.class IS NOT NULL)
		SELECT o.id FROM c JOIN durable_object o ON o.class = c.class AND o.name = '` + metadata + `'`
	sqlPages = `SELECT id & 0xffffffff, data FROM durable_page WHERE id > ?1 AND id < ?2 ORDER BY id`
	sqlStats = `SELECT count(*) FILTER (WHERE instr(name, '.') = 0), coalesce(sum(pages), 0) FROM durable_object WHERE class = ?1 AND name <> 'metadata'`
)

// row is one object in the rows.
type row struct {
	id          int64
	class, name string
	pages       uint32
	inherited   bool // from the parent, with its alarm
}

// bounds are the id of the page with that number, and the one after the last page.
func bounds(id int64, number uint32) (first, after int64) {
	return id<<32 | int64(number), (id + 1) << 32
}

// save writes one change of an object, in the transaction that is open on c.
func save(c *raw.Conn, class, name string, ch *change) error {
	if ch.count == 0 {
		id, err := find(c, class, name)
		if err != nil || id == 0 {
			return err
		}
		return drop(c, id)
	}
	if err := c.Exec(sqlPut, class, name, int64(ch.count)); err != nil {
		return err
	}
	id, err := find(c, class, name)
	if err != nil {
		return err
	}
	first, after := bounds(id, ch.count)
	if err := c.Exec(sqlCutPages, first, after); err != nil {
		return err
	}
	var packer lz4.Compressor
	buf := make([]byte, lz4.CompressBlockBound(pageSize))
	for number, page := range ch.pages {
		data := page
		if n, err := packer.CompressBlock(page, buf); err == nil && n > 0 && n < pageSize {
			data = buf[:n]
		}
		at, _ := bounds(id, number)
		if err := c.Exec(sqlPutPage, at, data); err != nil {
			return err
		}
	}
	return nil
}

// drop deletes the rows of an object.
func drop(c *raw.Conn, id int64) error {
	first, after := bounds(id, 0)
	if err := c.Exec(sqlCutPages, first, after); err != nil {
		return err
	}
	return c.Exec(sqlDrop, id)
}

// dropAll deletes the rows of the objects whose ids a query gives.
func dropAll(c *raw.Conn, query string, args ...any) error {
	var ids []int64
	err := c.Query(query, args, func(s *raw.Stmt) error {
		ids = append(ids, s.Int64(0))
		return nil
	})
	for _, id := range ids {
		if err == nil {
			err = drop(c, id)
		}
	}
	return err
}

func find(c *raw.Conn, class, name string) (id int64, err error) {
	err = c.Query(sqlID, []any{class, name}, func(s *raw.Stmt) error {
		id = s.Int64(0)
		return nil
	})
	return id, err
}

// load is all pages of an object.
func load(c *raw.Conn, r row) (map[uint32][]byte, error) {
	pages := make(map[uint32][]byte, r.pages)
	first, after := bounds(r.id, 0)
	err := c.Query(sqlPages, []any{first, after}, func(s *raw.Stmt) error {
		data := s.View(1)
		page := bytes.Clone(data)
		if len(data) < pageSize {
			page = make([]byte, pageSize)
			if n, err := lz4.UncompressBlock(data, page); err != nil || n != pageSize {
				return fmt.Errorf("page %d of %s/%s is damaged", s.Int64(0), r.class, r.name)
			}
		}
		pages[uint32(s.Int64(0))] = page //nolint:gosec // 32 bits of it
		return nil
	})
	if err == nil && len(pages) != int(r.pages) {
		err = fmt.Errorf("%s/%s has %d of %d pages", r.class, r.name, len(pages), r.pages)
	}
	return pages, err
}

// objects are all rows of objects.
func objects(ctx context.Context, db volume.Database) ([]row, error) {
	return query(ctx, db, sqlObjects)
}

// query reads rows of objects.
func query(ctx context.Context, db volume.Database, text string, args ...any) (list []row, err error) {
	err = db.Read(ctx, func(c *raw.Conn) error {
		return c.Query(text, args, func(s *raw.Stmt) error {
			list = append(list, row{s.Int64(0), s.Text(1), s.Text(2), uint32(s.Int64(3)), s.Int64(4) != 0}) //nolint:gosec // as stored
			return nil
		})
	})
	return list, err
}

// Stats counts the objects of a class by its key, and the bytes of their files.
func Stats(ctx context.Context, db volume.Database, key string) (objects, size int64, err error) {
	err = db.Read(ctx, func(c *raw.Conn) error {
		return c.Query(sqlStats, []any{key}, func(s *raw.Stmt) error {
			objects, size = s.Int64(0), s.Int64(1)*pageSize
			return nil
		})
	})
	return objects, size, err
}
