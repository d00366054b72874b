package raw_test

import (
	"path/filepath"
	"testing"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
)

// With stable plans a statement on a partial index is compiled once.
func TestStablePlans(t *testing.T) {
	t.Parallel()
	for _, stable := range []bool{false, true} {
		c, err := raw.Open(filepath.Join(t.TempDir(), "x"), raw.Options{StablePlans: stable})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Script("CREATE TABLE t(a, b); CREATE INDEX i ON t(a, b) WHERE b IS NOT NULL; INSERT INTO t VALUES ('x', 1), ('x', NULL)"); err != nil {
			t.Fatal(err)
		}
		compiled := 0
		c.SetAuthorizer(func(a raw.Action) bool {
			if a.Verb == raw.VerbSelect {
				compiled++
			}
			return true
		})
		const query = "SELECT min(b) FROM t WHERE a = ?1 AND b IS NOT NULL"
		for range 5 {
			if err := c.Query(query, []any{"x"}, nil); err != nil {
				t.Fatal(err)
			}
		}
		if again := compiled > 1; again == stable {
			t.Errorf("stable plans %v: compiled %d times", stable, compiled)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}
