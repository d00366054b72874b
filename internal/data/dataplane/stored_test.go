package dataplane_test

import (
	"maps"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/dataplane"
	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore/objstoretest"
)

// TestCutStored: a fork of an archived version reads its record alone; a fork of a version that was just
// released also reads manifest and files, concurrently, and the slots that the listing may lack.
func TestCutStored(t *testing.T) {
	bubble(t, func(t *testing.T) {
		way := &gatedBucket{Bucket: new(memstore.Bucket)}
		bucket := objstoretest.NewFaulty(way, objstoretest.Faults{}, 1)
		bucket.Latency = time.Second
		parent, child := config(t, way, filepath.Join(t.TempDir(), "v1")), config(t, bucket, filepath.Join(t.TempDir(), "v2"))
		v := openWith(t, way, parent.Dir, inSync)
		for _, name := range []string{"a", "b", "c"} {
			exec(t, database(t, v, name), "CREATE TABLE t(x)")
		}
		cuts := cutOf(t, v)
		closed(t, v)
		child.Ref.Version, child.Parent = "v2", "v1"
		fork := branch.Fork{Parent: parent.Ref, Child: child.Ref, ID: "f", At: time.Now(), Cuts: cuts}
		if _, err := parent.Branches.Fork(t.Context(), fork); err != nil {
			t.Fatal(err)
		}
		w, err := dataplane.Open(t.Context(), child)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"a", "d"} {
			exec(t, database(t, w, name), "CREATE TABLE u(x)")
		}
		closed(t, w)
		want := map[string]uint64{"a": 2, "b": 1, "c": 1, "d": 1}
		check := func(state string, requests int64, took time.Duration) {
			t.Helper()
			before, began := way.requests.Load(), time.Now()
			cuts, err := dataplane.CutStored(t.Context(), child)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]uint64{}
			for name, c := range cuts {
				got[name] = c.TXID
			}
			if !maps.Equal(got, want) {
				t.Errorf("%s: cut at %v, want %v", state, got, want)
			}
			if n := way.requests.Load() - before; n != requests || time.Since(began) != took {
				t.Errorf("%s: %d requests in %v, want %d in %v", state, n, time.Since(began), requests, took)
			}
		}
		check("live", 5, 4*time.Second)
		if err := openWith(t, bucket, child.Dir, func(c *dataplane.Config) { *c = child }).Archive(t.Context()); err != nil {
			t.Fatal(err)
		}
		check("archived", 1, time.Second)
	})
}

// TestCutShipsConcurrently: a cut ships all databases concurrently.
func TestCutShipsConcurrently(t *testing.T) {
	bubble(t, func(t *testing.T) {
		way := &gatedBucket{Bucket: new(memstore.Bucket), latency: time.Second}
		v := openWith(t, way, t.TempDir(), func(c *dataplane.Config) { c.Window = time.Hour })
		names := []string{"a", "b", "c"}
		for _, name := range names {
			exec(t, database(t, v, name), "CREATE TABLE t(x)")
		}
		began := time.Now()
		cuts := cutOf(t, v)
		if got := slices.Sorted(maps.Keys(cuts)); !slices.Equal(got, names) || time.Since(began) != time.Second {
			t.Errorf("a cut of %v took %v", got, time.Since(began))
		}
	})
}
