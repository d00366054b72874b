package cowvfs_test

import (
	"path/filepath"
	"testing"

	"github.com/svcctl/svcctl/internal/data/cowvfs"
)

// TestGrowth grows the file by pages that are freed in the same transaction, and so never
// written: readers of LTX need every page of a database nevertheless.
func TestGrowth(t *testing.T) {
	t.Parallel()
	for _, sql := range []string{
		`CREATE TABLE g(v); WITH n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 90) INSERT INTO g SELECT zeroblob(3000) FROM n; DROP TABLE g;`,
		`INSERT INTO t(v) VALUES (zeroblob(400000)); DELETE FROM t WHERE id = 1000;`,
		`INSERT INTO t(id, v) VALUES (1000, zeroblob(400000)); DELETE FROM t WHERE id = 1000;`,
		`INSERT INTO t(id, v) VALUES (1000, zeroblob(400000)); UPDATE t SET v = 1 WHERE id = 1000;`,
	} {
		dir, store := t.TempDir(), t.TempDir()
		f := attach(t, cowvfs.Options{Path: filepath.Join(dir, "a.db"), Capture: &cowvfs.Capture{}})
		c := open(t, f.Path())
		run(t, c, `CREATE TABLE t(id INTEGER PRIMARY KEY, v)`)
		same(t, f, store, c)
		if err := c.InTx("BEGIN", func() error { return c.Script(sql) }); err != nil {
			t.Fatal(err)
		}
		same(t, f, store, c)
		if err := mergeAll(t.Context(), store, 0, f.TXID(), "", filepath.Join(dir, "merged.db")); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
}
