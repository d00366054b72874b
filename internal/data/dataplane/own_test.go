package dataplane_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/dataplane"
	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/svc"
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

// release makes child by a whole cut of parent, as a release does, and opens it.
func (m *machine) release(parent *dataplane.Volumes, from, child string) *dataplane.Volumes {
	m.t.Helper()
	staged, err := parent.Seal(m.t.Context())
	if err != nil {
		m.t.Fatal(err)
	}
	defer staged.Open()
	cuts, offer, err := staged.Ship(m.t.Context())
	if err != nil {
		m.t.Fatal(err)
	}
	c := m.config(child, from, offer)
	fork := branch.Fork{Parent: svc.Ref{Project: "p", Version: from}, Child: c.Ref, ID: child, Cuts: cuts}
	if _, err := c.Branches.Fork(m.t.Context(), fork); err != nil {
		m.t.Fatal(err)
	}
	return m.open(c)
}

// TestWholeCut: a release continues the databases that belong to its parent alone, also through a
// second release of a version that did not open them. A plain child of a released version has none,
// whether it is cut live, stored or archived.
func TestWholeCut(t *testing.T) {
	t.Parallel()
	const own, later = volume.OwnPrefix + "x", volume.OwnPrefix + "later"
	m := newMachine(t, t.TempDir())
	v1 := m.open(m.config("v1", "", ""))
	for _, name := range []string{"a", own} {
		exec(t, database(t, v1, name), "CREATE TABLE t(x); INSERT INTO t VALUES (1)")
	}
	v2 := m.release(v1, "v1", "v2")
	exec(t, database(t, v2, later), "CREATE TABLE t(x); INSERT INTO t VALUES (1), (2)")
	v3 := m.release(v2, "v2", "v3") // v2 has not used own
	for name, want := range map[string]int64{"a": 1, own: 1, later: 2} {
		if n := number(t, database(t, v3, name), "SELECT count(*) FROM t"); n != want {
			t.Errorf("the released version has %d rows in %s, want %d", n, name, want)
		}
	}
	exec(t, database(t, v1, own), "INSERT INTO t VALUES (2), (3)") // of the old version alone
	exec(t, database(t, v3, own), "INSERT INTO t VALUES (2)")
	if n := number(t, database(t, v3, own), "SELECT count(*) FROM t"); n != 2 {
		t.Errorf("the released version has %d rows of its own", n)
	}

	plain := func(when string, cuts map[string]branch.Cut, err error) {
		t.Helper()
		if got := slices.Collect(maps.Keys(cuts)); err != nil || !slices.Equal(got, []string{"a"}) {
			t.Errorf("%s: the plain cut has %v, %v", when, got, err)
		}
	}
	plain("live", cutOf(t, v3), nil)
	m.fork(v3, "v3", "child")
	child := m.open(m.config("child", "v3", ""))
	for name, want := range map[string]bool{"a": true, own: false, later: false} {
		if has, err := child.Exists(t.Context(), name); has != want || err != nil {
			t.Errorf("the plain child has %s: %v, %v", name, has, err)
		}
	}
	closed(t, v3)
	cuts, err := dataplane.CutStored(t.Context(), m.config("v3", "v2", ""))
	plain("stored", cuts, err)
	v3, err = dataplane.Open(t.Context(), m.config("v3", "v2", ""))
	if err == nil {
		err = v3.Archive(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	cuts, err = dataplane.CutStored(t.Context(), m.config("v3", "v2", ""))
	plain("archived", cuts, err)
}

// TestWholeCutAfterWake: a whole cut has own databases that no binding of this process has opened:
// those that are in the object store alone, and those that an earlier release moved.
func TestWholeCutAfterWake(t *testing.T) {
	t.Parallel()
	const own, written = volume.OwnPrefix + "x", volume.OwnPrefix + "y"
	m := newMachine(t, t.TempDir())
	v1 := m.open(m.config("v1", "", ""))
	exec(t, database(t, v1, own), "CREATE TABLE t(x); INSERT INTO t VALUES (1)")
	v2 := m.release(v1, "v1", "v2")
	exec(t, database(t, v2, written), "CREATE TABLE t(x); INSERT INTO t VALUES (1)")
	closed(t, v2)
	c := m.config("v2", "v1", "")
	c.Dir = t.TempDir() // on another machine
	v2 = m.open(c)
	for range 2 { // a release that was undone, and the next one
		staged, err := v2.Seal(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		cuts, _, err := staged.Ship(t.Context())
		staged.Open()
		if got := slices.Sorted(maps.Keys(cuts)); err != nil || !slices.Equal(got, []string{own, written}) {
			t.Errorf("the whole cut has %v, %v", got, err)
		}
		for name, cut := range cuts {
			if n := askCut(t, m.bucket, cut, "SELECT count(*) FROM t"); n != 1 {
				t.Errorf("the cut of %s has %d rows", name, n)
			}
		}
	}
}
