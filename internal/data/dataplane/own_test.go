package dataplane_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/dataplane"
	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/volume"
)

// TestOwnDatabases: databases that belong to one version are in none of its cuts, and
// remain when it is archived.
// spec: [C3.3].
func TestOwnDatabases(t *testing.T) {
	t.Parallel()
	bucket, dir := new(memstore.Bucket), t.TempDir()
	const own = volume.OwnPrefix + "x"
	check := func(when string, cuts map[string]branch.Cut, err error) {
		t.Helper()
		if got := slices.Collect(maps.Keys(cuts)); err != nil || !slices.Equal(got, []string{"a"}) {
			t.Errorf("%s: the cut has %v, %v", when, got, err)
		}
	}
	v := openOn(t, bucket, dir)
	for _, name := range []string{"a", own} {
		exec(t, database(t, v, name), "CREATE TABLE t(x)")
		exec(t, database(t, v, name), "INSERT INTO t VALUES (1)")
	}
	check("live", cutOf(t, v), nil)
	closed(t, v)
	cuts, err := dataplane.CutStored(t.Context(), config(t, bucket, t.TempDir()))
	check("stored", cuts, err)
	if err := archive(t, bucket, dir); err != nil {
		t.Fatal(err)
	}
	cuts, err = dataplane.CutStored(t.Context(), config(t, bucket, t.TempDir()))
	check("archived", cuts, err)
	if n := number(t, database(t, openOn(t, bucket, t.TempDir()), own), "SELECT count(*) FROM t"); n != 1 {
		t.Errorf("after the archive there are %d rows", n)
	}
}
