package database

import (
	"fmt"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
)

// inherits is true when the data began as a parent's.
func (d *database) inherits() bool { return d.db.History().Parent != "" }

// obstacle is what stands in the way of src in a child: something of the
// parent's that src, a SQLite file, declares too. "" is for nothing. A file is the
// whole state of another database, and a child's data wins over it.
func (d *database) obstacle(c *raw.Conn, src source) (name string, err error) {
	f, ok := src.(*file)
	if !ok || !d.inherits() {
		return "", nil
	}
	const same = `SELECT 1 FROM sqlite_schema WHERE name = ?1 COLLATE NOCASE`
	for _, o := range f.objects {
		if o.kind == "internal" {
			continue
		}
		err := c.Query(same, []any{o.name}, func(*raw.Stmt) error { name = o.name; return nil })
		if err != nil || name != "" {
			return name, err
		}
	}
	return "", c.Query(`SELECT 1 FROM pragma_user_version WHERE user_version <> 0`, nil, func(*raw.Stmt) error {
		f.version = 0 // the parent's stays
		return nil
	})
}

// seedHint says what to do about a file that was not imported.
func (d *database) seedHint() string {
	if !d.inherits() {
		return "nothing of this file was imported; correct it and deploy again"
	}
	return fmt.Sprintf("nothing of this file was imported, and it has to fit the data of %s, which this version began with; "+
		"correct it (IF NOT EXISTS, OR IGNORE) or take it out of seed/, and deploy again", d.db.History().Parent)
}
