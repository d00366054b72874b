package branch_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/svc"
)

// acquire makes the record of a version.
func acquire(t *testing.T, s *branch.Store, version string) {
	t.Helper()
	if _, err := s.Acquire(t.Context(), ref(version), svc.Owner{Node: "a", Session: "1"}, ""); err != nil {
		t.Fatal(err)
	}
}

func sweep(t *testing.T, s *branch.Store, dry bool) *branch.Report {
	t.Helper()
	r, err := s.Sweep(t.Context(), "p", branch.SweepOptions{DryRun: dry})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func keys(objects []branch.Object) (keys []string) {
	for _, o := range objects {
		keys = append(keys, o.Key)
	}
	return keys
}

// TestSweep: v1 -> v2 -> v3; superseded files are deleted after the grace, files that
// a child pins stay, a destroyed version keeps only pinned files.
func TestSweep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := new(memstore.Bucket)
		s := open(t, b)
		acquire(t, s, "v1")
		f1, f2, f3 := write(t, b, "v1", 0, 1, 1), write(t, b, "v1", 0, 2, 2), write(t, b, "v1", 0, 3, 3)
		fork(t, s, "v1", "v2", 2, f1, f2)
		l1 := write(t, b, "v1", 1, 1, 3)
		if err := s.MarkDead(t.Context(), ref("v1"), []string{f1.Key(), f2.Key()}); err != nil {
			t.Fatal(err)
		}
		acquire(t, s, "v2")
		g := write(t, b, "v2", 0, 3, 3)
		fork(t, s, "v2", "v3", 3, f1, f2, g)

		r := sweep(t, s, true)
		want := []branch.Object{
			{Version: ref("v1"), Key: f1.Key(), Size: 10, PinnedBy: []svc.Ref{ref("v2"), ref("v3")}},
			{Version: ref("v1"), Key: f2.Key(), Size: 10, PinnedBy: []svc.Ref{ref("v2"), ref("v3")}},
		}
		if d := cmp.Diff(want, r.Pinned); d != "" || len(r.Gone)+len(r.Waiting) > 0 {
			t.Errorf("%s%+v", d, r)
		}

		// The middle version is destroyed; the files that the grandchild needs stay.
		h := write(t, b, "v2", 0, 4, 4)
		if err := s.Destroy(t.Context(), ref("v2")); err != nil {
			t.Fatal(err)
		}
		r = sweep(t, s, false)
		if d := cmp.Diff([]string{h.Key()}, keys(r.Waiting)); d != "" || !has(t, b, h) {
			t.Error(d)
		}
		time.Sleep(59 * time.Minute)
		sweep(t, s, false)
		if !has(t, b, h) {
			t.Error("deleted within the grace")
		}
		time.Sleep(2 * time.Minute)
		if r = sweep(t, s, true); !has(t, b, h) || len(r.Gone) != 1 {
			t.Errorf("a dry run is to report and to keep: %+v", r)
		}
		sweep(t, s, false)
		if has(t, b, h) || !has(t, b, g) || !has(t, b, f1) {
			t.Error("after the grace: the unpinned file goes, the pinned ones stay")
		}

		// With the grandchild gone nothing is pinned any more.
		if err := s.Destroy(t.Context(), ref("v3")); err != nil {
			t.Fatal(err)
		}
		sweep(t, s, false)
		time.Sleep(61 * time.Minute)
		r = sweep(t, s, false)
		if has(t, b, f1) || has(t, b, f2) || has(t, b, g) || !has(t, b, f3) || !has(t, b, l1) {
			t.Error("the root is to keep what it needs itself, and nothing else")
		}
		if d := cmp.Diff(map[svc.Ref]bool{ref("v2"): true, ref("v3"): true}, set(r.Removed)); d != "" {
			t.Error(d)
		}
		if left, err := objstore.ListAll(t.Context(), b, "p/"); err != nil || len(left) != 3 {
			t.Errorf("left: %+v, %v", left, err)
		}
	})
}

func set(refs []svc.Ref) map[svc.Ref]bool {
	m := map[svc.Ref]bool{}
	for _, r := range refs {
		m[r] = true
	}
	return m
}

// TestSweepKeepsWhatADeadListNamesWrongly: a sweep ignores a dead list that names
// files without which the version cannot be restored.
func TestSweepKeepsWhatADeadListNamesWrongly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := new(memstore.Bucket)
		s := open(t, b)
		acquire(t, s, "v1")
		f1, f2 := write(t, b, "v1", 0, 1, 1), write(t, b, "v1", 0, 2, 2)
		if err := s.MarkDead(t.Context(), ref("v1"), []string{f1.Key(), f2.Key()}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Hour)
		r := sweep(t, s, false)
		if !errors.Is(r.Broken[ref("v1")], branch.ErrNotRestorable) || len(r.Gone) > 0 || !has(t, b, f1) || !has(t, b, f2) {
			t.Errorf("%+v", r)
		}
		if live, err := s.Live(t.Context(), "p"); err == nil || len(live.PinnedBy(f1.Key())) != 1 {
			t.Errorf("live set: %v", err)
		}
		if err := s.MarkDead(t.Context(), ref("v1"), []string{"p/v2/db/main/x"}); err == nil {
			t.Error("marked a key of another version")
		}
	})
}

// listing calls a function between the log files of a listing and the keys after them.
type listing struct {
	objstore.Bucket
	between func()
}

func (l *listing) List(ctx context.Context, prefix, after string, limit int) ([]objstore.Info, error) {
	files, err := l.Bucket.List(ctx, prefix, after, limit)
	if err != nil || l.between == nil {
		return files, err
	}
	l.between()
	all, err := l.Bucket.List(ctx, prefix, after, limit)
	isFile := func(i objstore.Info) bool { return strings.Contains(i.Key, "/db/") }
	files = append(slices.DeleteFunc(files, func(i objstore.Info) bool { return !isFile(i) }), slices.DeleteFunc(all, isFile)...)
	return files, err
}

// TestSweepWhileFilesAreMerged: a merge may end while a sweep lists. The sweep then
// sees the dead list but not the merged file, which is no damage.
func TestSweepWhileFilesAreMerged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &listing{Bucket: new(memstore.Bucket)}
		s := open(t, l)
		acquire(t, s, "v1")
		f1, f2, f3 := write(t, l, "v1", 0, 1, 1), write(t, l, "v1", 0, 2, 2), write(t, l, "v1", 0, 3, 3)
		l.between = func() {
			time.Sleep(time.Millisecond)
			write(t, l, "v1", 1, 1, 3)
			if err := s.MarkDead(t.Context(), ref("v1"), []string{f1.Key(), f2.Key()}); err != nil {
				t.Error(err)
			}
			l.between = nil
		}
		if r := sweep(t, s, false); len(r.Broken) > 0 {
			t.Errorf("broken: %v", r.Broken)
		}
		time.Sleep(61 * time.Minute)
		if r := sweep(t, s, false); len(r.Broken) > 0 || has(t, l, f1) || has(t, l, f2) || !has(t, l, f3) {
			t.Errorf("after the grace merged files are deleted: %+v", r)
		}
	})
}

func TestSweepDeletesOrphans(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := new(memstore.Bucket)
		s := open(t, b)
		f := write(t, b, "v9", 0, 1, 1)
		sweep(t, s, false)
		if !has(t, b, f) {
			t.Error("an orphan was deleted at first sight")
		}
		time.Sleep(2 * time.Hour)
		sweep(t, s, false)
		if left, err := objstore.ListAll(t.Context(), b, ""); err != nil || len(left) > 0 {
			t.Errorf("left: %+v, %v", left, err)
		}
	})
}

// TestSweepGivesForksTheGrace: a fork is in progress when its parent is destroyed. It
// names files that were superseded long ago and that only the parent held.
func TestSweepGivesForksTheGrace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := new(memstore.Bucket)
		s := open(t, b)
		acquire(t, s, "v1")
		f1, f2 := write(t, b, "v1", 0, 1, 1), write(t, b, "v1", 0, 2, 2)
		fork(t, s, "v1", "v2", 2, f1, f2)
		write(t, b, "v1", 9, 1, 2)
		write(t, b, "v1", 0, 3, 3)
		if err := s.MarkDead(t.Context(), ref("v1"), []string{f1.Key(), f2.Key()}); err != nil {
			t.Fatal(err)
		}
		acquire(t, s, "v2")
		time.Sleep(720 * time.Hour)
		sweep(t, s, false)

		if err := s.Destroy(t.Context(), ref("v2")); err != nil {
			t.Fatal(err)
		}
		r := sweep(t, s, false)
		if !has(t, b, f1) || !has(t, b, f2) || len(r.Waiting) != 2 || r.Waiting[0].Left != time.Hour {
			t.Fatalf("a file was deleted without a grace: %+v", r)
		}
		time.Sleep(59 * time.Minute)
		sweep(t, s, false)
		fork(t, s, "v2", "v3", 2, f1, f2) // it was slow
		time.Sleep(24 * time.Hour)
		sweep(t, s, false)
		if !has(t, b, f1) || !has(t, b, f2) {
			t.Fatal("the grandchild has lost its data")
		}
		if err := s.Destroy(t.Context(), ref("v3")); err != nil {
			t.Fatal(err)
		}
		sweep(t, s, false)
		time.Sleep(61 * time.Minute)
		sweep(t, s, false)
		if has(t, b, f1) || has(t, b, f2) {
			t.Error("no version needs them any more, and they exist")
		}
	})
}

// TestSweepKeepsTheCutOfAnArchivedVersion: a fork of an archived version lists
// nothing, so the files of its record's cut stay, even those in a dead list. Once
// the version is woken they are deleted.
func TestSweepKeepsTheCutOfAnArchivedVersion(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := new(memstore.Bucket)
		s := open(t, b)
		f1, f2 := write(t, b, "v1", 0, 1, 1), write(t, b, "v1", 0, 2, 2)
		owner := svc.Owner{Node: "a", Session: "1"}
		g, err := s.Acquire(t.Context(), ref("v1"), owner, "")
		if err != nil {
			t.Fatal(err)
		}
		cut := branch.Cut{Kind: "main", PageSize: 4096, TXID: 2, Files: []branch.File{f1, f2}, Origins: []branch.Origin{}}
		if err := s.Archive(t.Context(), g, nil, map[string]branch.Cut{"main": cut}); err != nil {
			t.Fatal(err)
		}
		write(t, b, "v1", 1, 1, 2) // by an owner that was fenced unnoticed
		if err := s.MarkDead(t.Context(), ref("v1"), []string{f1.Key()}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(61 * time.Minute)
		sweep(t, s, false)
		if !has(t, b, f1) {
			t.Error("a file of the cut was deleted")
		}
		r, err := s.Record(t.Context(), ref("v1"))
		if err != nil || r.Cut == nil || !cmp.Equal(keysOf(r.Cut.Databases["main"].Files), []string{f1.Key(), f2.Key()}) {
			t.Fatalf("%+v, %v", r, err)
		}
		if r.Cut.Databases["main"].Origins == nil {
			t.Error("empty origins were read as unknown ones: forks would pin every blob of the project")
		}
		if _, err := s.Acquire(t.Context(), ref("v1"), owner, ""); err != nil {
			t.Fatal(err)
		}
		if r, err := s.Record(t.Context(), ref("v1")); err != nil || r.Cut != nil {
			t.Errorf("a live version has the cut %+v, %v", r.Cut, err)
		}
		sweep(t, s, false)
		if has(t, b, f1) || !has(t, b, f2) {
			t.Error("once it is woken, dead files go")
		}
		bad := map[string]branch.Cut{"main": {TXID: 3, Files: cut.Files}}
		if g, err = s.Acquire(t.Context(), ref("v1"), owner, ""); err == nil {
			err = s.Archive(t.Context(), g, nil, bad)
		}
		if !errors.Is(err, branch.ErrNotRestorable) {
			t.Errorf("archived with a cut that cannot be restored: %v", err)
		}
	})
}

func keysOf(files []branch.File) (keys []string) {
	for _, f := range files {
		keys = append(keys, f.Key())
	}
	return keys
}
