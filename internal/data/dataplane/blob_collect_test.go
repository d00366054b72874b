package dataplane_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/dataplane"
	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/svc"
)

// bodies is a version whose table t names blobs.
type bodies struct {
	*dataplane.Volumes
	t *testing.T
	c dataplane.Config
}

// openBodies opens a version of project p on bucket.
func openBodies(t *testing.T, bucket objstore.Bucket, version, parent, dir string, change func(*dataplane.Config)) *bodies {
	t.Helper()
	b := &bodies{t: t}
	b.Volumes = openWith(t, bucket, dir, func(c *dataplane.Config) {
		c.Ref.Version, c.Parent = version, parent
		change(c)
		b.c = *c
	})
	exec(t, b.sys(), "CREATE TABLE IF NOT EXISTS t(key)")
	return b
}

func unchanged(*dataplane.Config) {}

func (b *bodies) sys() volume.Database {
	b.t.Helper()
	return database(b.t, b.Volumes, volume.SharedDatabase)
}

func (b *bodies) do(fn func(c *raw.Conn) error) error {
	b.t.Helper()
	return b.sys().Write(b.t.Context(), func(c *raw.Conn) error { return c.InTx("BEGIN IMMEDIATE", func() error { return fn(c) }) })
}

// upload stores a blob that no row names yet.
func (b *bodies) upload() string {
	b.t.Helper()
	return putBlob(b.t, b.Blobs(), []byte("a body"))
}

// put stores a blob and a row.
func (b *bodies) put() string {
	b.t.Helper()
	key := b.upload()
	err := b.do(func(c *raw.Conn) error {
		return errors.Join(b.Blobs().Reference(c, key), c.Exec("INSERT INTO t VALUES (?1)", key))
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return key
}

func (b *bodies) drop(key string) {
	b.t.Helper()
	err := b.do(func(c *raw.Conn) error {
		return errors.Join(b.Blobs().Unreference(c, key), c.Exec("DELETE FROM t WHERE key = ?1", key))
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bodies) rows(query string) (rows []string) {
	b.t.Helper()
	err := b.sys().Read(b.t.Context(), func(c *raw.Conn) error {
		return c.Query(query, nil, func(s *raw.Stmt) error {
			rows = append(rows, s.Text(0))
			return nil
		})
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return rows
}

func (b *bodies) named() []string { b.t.Helper(); return b.rows("SELECT key FROM t") }

// dropped are the blobs recorded as unreferenced in the object store.
func (b *bodies) dropped() (keys []string) {
	b.t.Helper()
	list, err := b.c.Branches.UnreferencedBlobs(b.t.Context(), b.c.Ref)
	if err != nil {
		b.t.Fatal(err)
	}
	for name := range list {
		keys = append(keys, name.Key())
	}
	return keys
}

func (b *bodies) wantDropped(want ...string) {
	b.t.Helper()
	got := b.dropped()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		b.t.Errorf("%s has dropped %v, want %v", b.c.Ref.Version, got, want)
	}
}

// fork makes a version with the data of b and opens it.
func (b *bodies) fork(bucket objstore.Bucket, version, dir string) *bodies {
	b.t.Helper()
	cuts, _, err := b.Cut(b.t.Context())
	if err == nil {
		_, err = b.c.Branches.Fork(b.t.Context(), branch.Fork{
			Parent: b.c.Ref, Child: svc.Ref{Project: b.c.Ref.Project, Version: version}, ID: version, Cuts: cuts,
		})
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return openBodies(b.t, bucket, version, b.c.Ref.Version, dir, unchanged)
}

func (b *bodies) sweep() {
	b.t.Helper()
	if _, err := b.c.Branches.Sweep(b.t.Context(), b.c.Ref.Project, branch.SweepOptions{}); err != nil {
		b.t.Fatal(err)
	}
}

func stat(t *testing.T, bucket objstore.Bucket, key string) bool {
	t.Helper()
	_, err := bucket.Stat(t.Context(), key)
	if err != nil && !errors.Is(err, objstore.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}

func TestSharedDatabase(t *testing.T) {
	t.Parallel()
	if volume.SharedDatabase != branch.BlobDatabase {
		t.Error("blobs have positions of another database than their rows")
	}
}

// TestUnreferencedBlobsAreDeleted: unreferenced blobs are recorded once the log has the transaction,
// and deleted after the grace. A child forked in between keeps the blobs that it names, and records
// the others itself.
func TestUnreferencedBlobsAreDeleted(t *testing.T) {
	bubble(t, func(t *testing.T) {
		bucket, dir := new(memstore.Bucket), t.TempDir()
		v1 := openBodies(t, bucket, "v1", "", filepath.Join(dir, "v1"), unchanged)
		kept, shared, gone, early := v1.put(), v1.put(), v1.put(), v1.put()
		v1.drop(early)
		v2 := v1.fork(bucket, "v2", filepath.Join(dir, "v2"))
		v2.drop(gone)
		v1.drop(shared)
		v1.drop(gone)
		if v1.wantDropped(); len(v1.rows("SELECT key FROM blob WHERE dead = 1")) != 3 {
			t.Error("blobs are recorded too early")
		}
		pass(11 * time.Minute)
		v1.wantDropped(shared, gone, early)
		v2.wantDropped(gone, early)
		for _, v := range []*bodies{v1, v2} {
			if left := v.rows("SELECT key FROM blob WHERE dead = 1"); len(left) > 0 {
				t.Errorf("%s still has %v", v.c.Ref.Version, left)
			}
		}
		v1.sweep()
		pass(61 * time.Minute)
		v1.sweep()
		for key, want := range map[string]bool{kept: true, shared: true, gone: false, early: false} {
			if got := stat(t, bucket, key); got != want {
				t.Errorf("%s: there is %t, want %t", key, got, want)
			}
		}
		if got := v2.named(); len(got) != 2 || got[0] != kept || got[1] != shared {
			t.Errorf("v2 names %v", got)
		}
		v2.drop(shared)
		pass(11 * time.Minute)
		pass(61 * time.Minute)
		if v1.sweep(); stat(t, bucket, shared) || !stat(t, bucket, kept) {
			t.Error("want only the blob deleted that both have dropped")
		}
	})
}

// TestDropsAreDurableFirst: a drop that the log does not have may be lost, so it is not recorded.
func TestDropsAreDurableFirst(t *testing.T) {
	bubble(t, func(t *testing.T) {
		way, dir := &gatedBucket{Bucket: new(memstore.Bucket)}, t.TempDir()
		v1 := openBodies(t, way, "v1", "", dir, unchanged)
		key := v1.put()
		pass(time.Minute)
		release := way.hold()
		v1.drop(key)
		pass(20 * time.Minute)
		v1.wantDropped()
		closed(t, v1.Volumes) // the machine is lost, and the drop with it
		release()
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		v1 = openBodies(t, way, "v1", "", dir, unchanged)
		if got := v1.named(); len(got) != 1 || got[0] != key || !stat(t, way, key) {
			t.Errorf("named: %v", got)
		}
		pass(20 * time.Minute)
		v1.wantDropped()
		v1.drop(key)
		pass(20 * time.Minute)
		v1.wantDropped(key)
	})
}

// TestDropsOfAnotherProcess: blobs that an earlier process dropped are recorded by the next one, also
// when that archives.
func TestDropsOfAnotherProcess(t *testing.T) {
	bubble(t, func(t *testing.T) {
		bucket, dir := new(memstore.Bucket), t.TempDir()
		v1 := openBodies(t, bucket, "v1", "", dir, unchanged)
		first, second := v1.put(), v1.put()
		v1.drop(first)
		closed(t, v1.Volumes)
		v1 = openBodies(t, bucket, "v1", "", dir, unchanged)
		pass(2 * time.Minute)
		v1.wantDropped(first)
		v1.drop(second)
		closed(t, v1.Volumes)
		if err := archive(t, bucket, dir); err != nil {
			t.Fatal(err)
		}
		v1.wantDropped(first, second)
	})
}

// TestAuditFindsUnnamedBlobs: a blob without a row is deleted after a day, and not earlier. A version
// unreferences blobs of ancestors that it does not name.
func TestAuditFindsUnnamedBlobs(t *testing.T) {
	bubble(t, func(t *testing.T) {
		bucket, dir := new(memstore.Bucket), t.TempDir()
		v1 := openBodies(t, bucket, "v1", "", filepath.Join(dir, "v1"), unchanged)
		kept := v1.put()
		orphan := v1.upload()
		exec(t, v1.sys(), "INSERT INTO t VALUES ('x'); DELETE FROM t WHERE key = 'x'")
		v2 := v1.fork(bucket, "v2", filepath.Join(dir, "v2"))
		own := v2.put()
		pass(2 * time.Hour)
		v1.wantDropped() // its row may still be written
		v2.wantDropped(orphan)
		pass(25 * time.Hour)
		v1.wantDropped(orphan)
		late := v1.upload()
		pass(2 * time.Hour)
		v1.sweep()
		for key, want := range map[string]bool{kept: true, own: true, orphan: false, late: true} {
			if got := stat(t, bucket, key); got != want {
				t.Errorf("%s: there is %t, want %t", key, got, want)
			}
		}
	})
}

// TestAuditFindsMissingBlobs: a missing blob is logged.
func TestAuditFindsMissingBlobs(t *testing.T) {
	bubble(t, func(t *testing.T) {
		bucket := new(memstore.Bucket)
		var logged bytes.Buffer
		v1 := openBodies(t, bucket, "v1", "", t.TempDir(), func(c *dataplane.Config) { c.Logger = slog.New(slog.NewTextHandler(&logged, nil)) })
		v1.put()
		lost := v1.put()
		if err := bucket.Delete(t.Context(), lost); err != nil {
			t.Fatal(err)
		}
		pass(2 * time.Hour)
		if text := logged.String(); !strings.Contains(text, "bodies=1") || !strings.Contains(text, lost) {
			t.Errorf("logged: %s", text)
		}
	})
}

// TestAuditOfAnOldOwner: an owner that was fenced unnoticed does not drop the blobs of its successor.
func TestAuditOfAnOldOwner(t *testing.T) {
	bubble(t, func(t *testing.T) {
		bucket := new(memstore.Bucket)
		first := openBodies(t, bucket, "v1", "", t.TempDir(), as("first"))
		first.put()
		pass(time.Minute)
		second := openBodies(t, bucket, "v1", "", t.TempDir(), as("second"))
		key := second.put()
		closed(t, second.Volumes)
		pass(50 * time.Hour)
		first.wantDropped()
		if !stat(t, bucket, key) {
			t.Error("the blob was deleted")
		}
	})
}

// TestIdleBlobs: a version without blobs sends no request, and one with blobs only those of the
// daily audit.
func TestIdleBlobs(t *testing.T) {
	bubble(t, func(t *testing.T) {
		way := &gatedBucket{Bucket: new(memstore.Bucket)}
		v1 := openBodies(t, way, "v1", "", t.TempDir(), unchanged)
		pass(time.Minute)
		before := way.requests.Load()
		if pass(72 * time.Hour); way.requests.Load() != before {
			t.Errorf("%d requests without blobs", way.requests.Load()-before)
		}
		v1.put()
		pass(time.Minute)
		before = way.requests.Load()
		if pass(72 * time.Hour); way.requests.Load()-before > 6 {
			t.Errorf("%d requests in three days", way.requests.Load()-before)
		}
	})
}

// TestBlobsAtRandom: after any sequence of actions of owners, machines and forks, every blob that a
// row names exists.
func TestBlobsAtRandom(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			bubble(t, func(t *testing.T) { blobsAtRandom(t, seed) })
		})
	}
}

func blobsAtRandom(t *testing.T, seed uint64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 7))
	way, root := &gatedBucket{Bucket: new(memstore.Bucket)}, t.TempDir()
	dirOf := func(version string) string { return filepath.Join(root, version) }
	alive := []*bodies{openBodies(t, way, "v0", "", dirOf("v0"), unchanged)}
	for made, step := 1, 0; step < 120; step++ {
		i := rng.IntN(len(alive))
		v := alive[i]
		switch n := rng.IntN(20); {
		case n < 7:
			v.put()
		case n < 11:
			if named := v.named(); len(named) > 0 {
				v.drop(named[rng.IntN(len(named))])
			}
		case n < 12:
			v.upload() // and a crash
		case n < 13 && len(alive) < 5:
			version := fmt.Sprintf("v%d", made)
			alive = append(alive, v.fork(way, version, dirOf(version)))
			made++
		case n < 14 && len(alive) > 1:
			closed(t, v.Volumes)
			if err := v.c.Branches.Destroy(t.Context(), v.c.Ref); err != nil {
				t.Fatal(err)
			}
			alive = slices.Delete(alive, i, i+1)
		case n < 16: // the process ends, and perhaps the machine is lost before everything is shipped
			lost := rng.IntN(2) == 0
			release := func() {}
			if lost {
				v.put() // the first write of an inherited database may wait for the log
				release = way.hold()
				v.put()
			}
			closed(t, v.Volumes)
			release()
			if lost && os.RemoveAll(v.c.Dir) != nil {
				t.Fatal("the directory still exists")
			}
			alive[i] = openBodies(t, way, v.c.Ref.Version, v.c.Parent, v.c.Dir, unchanged)
		default:
			pass(time.Duration(rng.IntN(5*60)) * time.Minute)
			v.sweep()
		}
		for _, v := range alive {
			for _, key := range v.named() {
				if !stat(t, way, key) {
					t.Fatalf("step %d: %s names %s, which is missing", step, v.c.Ref.Version, key)
				}
			}
		}
	}
	named := map[string]bool{}
	for range 3 {
		pass(26 * time.Hour)
		alive[0].sweep()
	}
	for _, v := range alive {
		for _, key := range v.named() {
			named[key] = true
		}
	}
	infos, err := objstore.ListAll(t.Context(), way, "p/")
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range infos {
		if _, isBlob := branch.ParseBlob(info.Key); isBlob && !named[info.Key] {
			t.Errorf("left: %s", info.Key)
		}
		delete(named, info.Key)
	}
	if len(named) > 0 {
		t.Errorf("missing: %v", named)
	}
}
