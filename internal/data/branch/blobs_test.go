package branch_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/svc"
)

// versionLog is a version as far as blobs are concerned: the log of one database,
// with one file for each transaction.
type versionLog struct {
	t        *testing.T
	s        *branch.Store
	b        objstore.Bucket
	v        svc.Ref
	manifest *branch.Manifest
	files    []branch.File
	head     uint64
}

func newVersionLog(t *testing.T, s *branch.Store, b objstore.Bucket, version string) *versionLog {
	t.Helper()
	acquire(t, s, version)
	return &versionLog{t: t, s: s, b: b, v: ref(version)}
}

// commit appends a transaction.
func (l *versionLog) commit() {
	l.t.Helper()
	l.head++
	f := branch.File{Prefix: branch.DatabasePrefix(l.v, branch.BlobDatabase), Min: l.head, Max: l.head, Size: 10}
	l.object(f.Key())
	l.files = append(l.files, f)
}

func (l *versionLog) object(key string) {
	l.t.Helper()
	if _, err := l.b.Put(l.t.Context(), key, bytes.NewReader(make([]byte, 10)), 10, objstore.Condition{}); err != nil {
		l.t.Fatal(err)
	}
}

// put stores a blob that the next transaction names.
func (l *versionLog) put() string {
	l.t.Helper()
	key := branch.NewBlob(l.v, l.head+1).Key()
	l.object(key)
	l.commit()
	return key
}

// drop commits a transaction and records that it names the blobs no more.
func (l *versionLog) drop(keys ...string) {
	l.t.Helper()
	l.commit()
	if err := l.s.UnreferenceBlobs(l.t.Context(), l.v, branch.Unreferenced{At: l.head, Blobs: keys}); err != nil {
		l.t.Fatal(err)
	}
}

func (l *versionLog) cut() branch.Cut {
	origins := []branch.Origin{}
	if l.manifest != nil {
		origins = l.manifest.Databases[branch.BlobDatabase].Origins
	}
	return branch.Cut{Kind: "sys", PageSize: 4096, TXID: l.head, Files: slices.Clone(l.files), Origins: origins}
}

// fork makes a child from a cut.
func (l *versionLog) fork(child string, cut branch.Cut) *versionLog {
	l.t.Helper()
	m, err := l.s.Fork(l.t.Context(), branch.Fork{
		Parent: l.v, Child: ref(child), ID: child, At: time.Now(), Cuts: map[string]branch.Cut{branch.BlobDatabase: cut},
	})
	if err != nil {
		l.t.Fatal(err)
	}
	return &versionLog{t: l.t, s: l.s, b: l.b, v: ref(child), manifest: m, files: cut.Files, head: cut.TXID}
}

func (l *versionLog) destroy() {
	l.t.Helper()
	if err := l.s.Destroy(l.t.Context(), l.v); err != nil {
		l.t.Fatal(err)
	}
}

func there(t *testing.T, b objstore.Bucket, key string) bool {
	t.Helper()
	_, err := b.Stat(t.Context(), key)
	if err != nil && !errors.Is(err, objstore.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}

// wantThere checks which of the keys are there, after a sweep and the grace.
func wantThere(t *testing.T, s *branch.Store, b objstore.Bucket, keys map[string]bool) {
	t.Helper()
	time.Sleep(61 * time.Minute)
	sweep(t, s, false)
	for key, want := range keys {
		if got := there(t, b, key); got != want {
			t.Errorf("%s: there is %t, want %t", key, got, want)
		}
	}
}

// TestBlobsOfChildren: an unreferenced blob stays while a child may name it that
// was forked between the transactions that first and last named it.
func TestBlobsOfChildren(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := new(memstore.Bucket)
		s := open(t, b)
		v1 := newVersionLog(t, s, b, "v1")
		kept, before := v1.put(), v1.put()
		v2 := v1.fork("v2", v1.cut())
		after := v1.put()
		wantThere(t, s, b, map[string]bool{kept: true, before: true, after: true})

		v1.drop(before, after)
		r := sweep(t, s, false)
		if !there(t, b, after) || len(r.Waiting) != 1 || r.Waiting[0].Key != after || len(r.Pinned) != 1 || r.Pinned[0].PinnedBy[0] != v2.v {
			t.Errorf("within the grace: %+v", r)
		}
		wantThere(t, s, b, map[string]bool{kept: true, before: true, after: false})

		v3 := v2.fork("v3", v2.cut())
		v4 := v1.fork("v4", v1.cut()) // forked after the drop: it names none of them
		v2.drop(before)
		wantThere(t, s, b, map[string]bool{kept: true, before: true})
		v3.destroy()
		if sweep(t, s, false); !there(t, b, before) {
			t.Error("deleted within the grace of its last holder")
		}
		wantThere(t, s, b, map[string]bool{kept: true, before: false})

		// A destroyed version's blobs stay as long as descendants name them.
		v1.destroy()
		wantThere(t, s, b, map[string]bool{kept: true})
		v2.destroy()
		wantThere(t, s, b, map[string]bool{kept: true})
		v5 := v4.fork("v5", v4.cut())
		v4.destroy()
		wantThere(t, s, b, map[string]bool{kept: true})
		v5.drop(kept)
		wantThere(t, s, b, map[string]bool{kept: false})
		v5.destroy()
		time.Sleep(2 * time.Hour)
		sweep(t, s, false)
		time.Sleep(2 * time.Hour)
		sweep(t, s, false)
		if left, err := objstore.ListAll(t.Context(), b, ""); err != nil || len(left) > 0 {
			t.Errorf("left: %v, %v", left, err)
		}
	})
}

// TestBlobsOfGrandparents: a purged version in the middle still leads from its
// descendants to its ancestors.
func TestBlobsOfGrandparents(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := new(memstore.Bucket)
		s := open(t, b)
		v1 := newVersionLog(t, s, b, "v1")
		key := v1.put()
		v2 := v1.fork("v2", v1.cut())
		v3 := v2.fork("v3", v2.cut())
		v2.destroy()
		v1.drop(key)
		wantThere(t, s, b, map[string]bool{key: true})
		if r := sweep(t, s, true); len(r.Versions) != 2 {
			t.Errorf("versions: %+v", r.Versions)
		}
		wantThere(t, s, b, map[string]bool{key: true})
		v3.drop(key)
		wantThere(t, s, b, map[string]bool{key: false})
	})
}

// TestBlobsOfSlowForks: a fork that was in progress when a blob was dropped finds it.
func TestBlobsOfSlowForks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := new(memstore.Bucket)
		s := open(t, b)
		v1 := newVersionLog(t, s, b, "v1")
		key := v1.put()
		cut := v1.cut()
		v1.drop(key)
		time.Sleep(10 * time.Minute)
		sweep(t, s, false)
		v2 := v1.fork("v2", cut)
		wantThere(t, s, b, map[string]bool{key: true})
		cut = v2.cut()
		v2.destroy()
		time.Sleep(10 * time.Minute)
		sweep(t, s, false)
		v2.fork("v3", cut)
		wantThere(t, s, b, map[string]bool{key: true})
	})
}

// TestBlobsOfUnknownOrigin: while it is unknown what a version inherited, or its log is
// damaged, no blob that it may name is deleted.
func TestBlobsOfUnknownOrigin(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := new(memstore.Bucket)
		s := open(t, b)
		v1 := newVersionLog(t, s, b, "v1")
		key := v1.put()
		cut := v1.cut()
		cut.Origins = nil // as an older program writes it
		v2 := v1.fork("v2", cut)
		v3 := v2.fork("v3", v2.cut())
		v1.drop(key)
		v2.drop(key)
		wantThere(t, s, b, map[string]bool{key: true})
		v3.destroy()
		wantThere(t, s, b, map[string]bool{key: false})
		key = v1.put() // v2 cannot have it, but its origins are unknown
		v1.drop(key)
		wantThere(t, s, b, map[string]bool{key: true})
		v2.destroy()
		wantThere(t, s, b, map[string]bool{key: false})

		key = v1.put()
		hole := branch.File{Prefix: v1.files[0].Prefix, Min: v1.head + 3, Max: v1.head + 3}
		v1.drop(key)
		v1.object(hole.Key())
		r := sweep(t, s, true)
		if !errors.Is(r.Broken[v1.v], branch.ErrNotRestorable) {
			t.Errorf("%+v", r)
		}
		wantThere(t, s, b, map[string]bool{key: true})
		if err := b.Delete(t.Context(), hole.Key()); err != nil {
			t.Fatal(err)
		}
		wantThere(t, s, b, map[string]bool{key: false})
	})
}

// TestBlobListsAreMerged: many lists become few with the same entries.
func TestBlobListsAreMerged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := new(memstore.Bucket)
		s := open(t, b)
		v1 := newVersionLog(t, s, b, "v1")
		var dropped []string
		for range 20 {
			dropped = append(dropped, v1.put())
		}
		child := v1.fork("v2", v1.cut())
		for i, key := range dropped[:19] {
			v1.drop(key)
			if i == 9 {
				v1.fork("v3", v1.cut())
			}
		}
		got, err := s.UnreferencedBlobs(t.Context(), v1.v)
		if err != nil || len(got) != 19 {
			t.Fatalf("%d blobs, %v", len(got), err)
		}
		lists, err := objstore.ListAll(t.Context(), b, "p/v1/gc/blobs/")
		if err != nil || len(lists) != 1 {
			t.Errorf("lists: %v, %v", lists, err)
		}
		if again, err := s.UnreferencedBlobs(t.Context(), v1.v); err != nil || len(again) != 19 {
			t.Errorf("%d blobs, %v", len(again), err)
		}
		child.drop(dropped...)
		want := map[string]bool{}
		for i, key := range dropped {
			want[key] = i >= 10 // v3 has those that were dropped after it branched off
		}
		wantThere(t, s, b, want)
		wantThere(t, s, b, want)
		for _, bad := range []string{"", "p/v1/db/x", strings.Replace(dropped[0], "p/", "q/", 1)} {
			if err := s.UnreferenceBlobs(t.Context(), v1.v, branch.Unreferenced{Blobs: []string{bad}}); err == nil {
				t.Errorf("%q is dropped", bad)
			}
		}
	})
}
