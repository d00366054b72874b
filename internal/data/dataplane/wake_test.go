package dataplane_test

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/dataplane"
	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore/objstoretest"
)

// countPuts returns a bucket that counts its PUTs.
func countPuts() (*objstoretest.Hooked, *atomic.Int64) {
	puts := new(atomic.Int64)
	return &objstoretest.Hooked{Bucket: new(memstore.Bucket), Around: func(_ context.Context, op objstoretest.Op, _ string, do func() error) error {
		if op == objstoretest.Put {
			puts.Add(1)
		}
		return do()
	}}, puts
}

// TestWakePuts: waking an archived version takes one PUT, that of its record, however many databases it has.
func TestWakePuts(t *testing.T) {
	bubble(t, func(t *testing.T) {
		bucket, puts := countPuts()
		dir, names := t.TempDir(), []string{"a", "b", "c"}
		v := openOn(t, bucket, dir)
		for _, name := range names {
			exec(t, database(t, v, name), "CREATE TABLE t(x)")
		}
		closed(t, v)
		if err := archive(t, bucket, dir); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		before := puts.Load()
		v = openOn(t, bucket, dir)
		for _, name := range names {
			number(t, database(t, v, name), "SELECT count(*) FROM t")
		}
		if pass(time.Hour); puts.Load() != before+1 {
			t.Errorf("waking takes %d PUTs", puts.Load()-before)
		}
	})
}

// TestInheritedPuts: a child whose machine has lost its files, and that has not written what it inherited,
// starts again with one PUT.
func TestInheritedPuts(t *testing.T) {
	bubble(t, func(t *testing.T) {
		bucket, puts := countPuts()
		parent, child := config(t, bucket, t.TempDir()), config(t, bucket, filepath.Join(t.TempDir(), "v2"))
		v := openWith(t, bucket, parent.Dir, inSync)
		for _, name := range []string{"a", "b"} {
			exec(t, database(t, v, name), "CREATE TABLE t(x)")
		}
		child.Ref.Version, child.Parent = "v2", "v1"
		fork := branch.Fork{Parent: parent.Ref, Child: child.Ref, ID: "f", At: time.Now(), Cuts: cutOf(t, v)}
		if _, err := parent.Branches.Fork(t.Context(), fork); err != nil {
			t.Fatal(err)
		}
		start := func() *dataplane.Volumes {
			w := openWith(t, bucket, child.Dir, func(c *dataplane.Config) { *c = child })
			for _, name := range []string{"a", "b"} {
				number(t, database(t, w, name), "SELECT count(*) FROM t")
			}
			return w
		}
		closed(t, start())
		if err := os.RemoveAll(child.Dir); err != nil {
			t.Fatal(err)
		}
		before := puts.Load()
		start()
		if pass(time.Hour); puts.Load() != before+1 {
			t.Errorf("the start takes %d PUTs", puts.Load()-before)
		}
	})
}
