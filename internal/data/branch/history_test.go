package branch_test

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore"
)

// TestKept: which history objects are kept, by age and by size.
func TestKept(t *testing.T) {
	t.Parallel()
	now := time.Now().Truncate(time.Millisecond)
	object := func(tier string, lo, hi uint64, age time.Duration) branch.Hist {
		at := now.Add(-age)
		return branch.Hist{Prefix: "p/v1/db/main", Tier: tier, Min: lo, Max: hi, From: at.UnixMilli(), To: at.UnixMilli(), Size: 10, Modified: at}
	}
	list := []branch.Hist{
		object("s", 1, 2, 3*time.Hour), object("m", 1, 2, 3*time.Hour), object("h", 1, 2, 3*time.Hour),
		object("s", 3, 4, time.Minute), object("m", 3, 4, time.Minute),
	}
	hours := branch.History{Seconds: time.Hour, Minutes: 2 * time.Hour, Hours: 24 * time.Hour}
	sized := hours
	sized.MaxSize = 25
	old := object("m", 3, 4, 3*time.Hour)
	for name, tc := range map[string]struct {
		keep branch.History
		list []branch.Hist
		at   time.Time
		want []int
	}{
		"nothing":                    {branch.History{}, list, now, nil},
		"by age":                     {hours, list, now, []int{2, 3, 4}},
		"by size":                    {sized, list, now, []int{2, 4}},
		"minutes of no hour":         {hours, []branch.Hist{old}, now, []int{0}},
		"minutes before their hours": {hours, []branch.Hist{old, object("h", 1, 2, 0)}, now, []int{0, 1}},
		"minutes with their hours":   {hours, []branch.Hist{old, object("h", 1, 9, 0)}, now, []int{1}},
		"hours that were not there":  {hours, []branch.Hist{old, object("h", 1, 9, 0)}, now.Add(-time.Second), []int{0, 1}},
		"size that was not there":    {sized, list, now.Add(-2 * time.Minute), []int{2, 3, 4}},
	} {
		want := map[string]bool{}
		for _, i := range tc.want {
			want[tc.list[i].Key()] = true
		}
		if diff := cmp.Diff(want, branch.HistorySet{Keep: tc.keep, Objects: tc.list}.Kept(tc.at)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestHistKeys: names are read as they were made, and no others.
func TestHistKeys(t *testing.T) {
	t.Parallel()
	h := branch.Hist{Prefix: "p/v1/db/main", Tier: "m", Min: 3, Max: 200, From: 1_700_000_000_000, To: 1_700_000_060_000}
	for _, first := range []bool{false, true} {
		h.First = first
		if got, ok := branch.ParseHist(h.Key()); !ok || got != h {
			t.Errorf("%s is %+v, %v", h.Key(), got, ok)
		}
	}
	for _, key := range []string{"", h.Key() + "x", "p/v1/db/main/hist/", "p/v1/db/main/hist/x/" + h.Key()[20:], "p/v1/db/main/ltx/0000/0000000000000001-0000000000000001.ltx"} {
		if _, ok := branch.ParseHist(key); ok {
			t.Errorf("%q is a history object", key)
		}
	}
}

// histOf stores a history object whose points are of now.
func histOf(t *testing.T, b objstore.Bucket, tier string, lo, hi uint64) branch.Hist {
	t.Helper()
	ms := time.Now().UnixMilli()
	h := branch.Hist{Prefix: branch.DatabasePrefix(ref("v1"), "main"), Tier: tier, Min: lo, Max: hi, From: ms, To: ms}
	if _, err := b.Put(t.Context(), h.Key(), bytes.NewReader(make([]byte, 10)), 10, objstore.Condition{}); err != nil {
		t.Fatal(err)
	}
	return h
}

func sweepHistory(t *testing.T, s *branch.Store, keep branch.History) {
	t.Helper()
	if _, err := s.Sweep(t.Context(), "p", branch.SweepOptions{History: keep}); err != nil {
		t.Fatal(err)
	}
}

// TestKeptForTheGrace: an object, and the merged file before it, stay for the grace after its points are not
// offered any more, because a fork may have begun.
func TestKeptForTheGrace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := new(memstore.Bucket)
		s := open(t, b)
		acquire(t, s, "v1")
		image := write(t, b, "v1", branch.SnapshotLevel, 1, 4)
		write(t, b, "v1", branch.SnapshotLevel, 1, 9)
		write(t, b, "v1", 0, 9, 9)
		h := histOf(t, b, branch.TierMinutes, 5, 8)
		if err := s.MarkDead(t.Context(), ref("v1"), []string{image.Key()}); err != nil {
			t.Fatal(err)
		}
		keep := branch.History{Minutes: 3 * time.Hour}
		for _, at := range []struct {
			after time.Duration
			stays bool
		}{{time.Minute, true}, {3 * time.Hour, true}, {50 * time.Minute, true}, {20 * time.Minute, false}} {
			time.Sleep(at.after)
			sweepHistory(t, s, keep)
			if there(t, b, h.Key()) != at.stays || has(t, b, image) != at.stays {
				t.Errorf("after %v more: the object stays: %v, the image: %v; want %v", at.after, there(t, b, h.Key()), has(t, b, image), at.stays)
			}
		}
	})
}

// TestBlobOfThePast: a body stays while a kept point may name it, and goes then.
func TestBlobOfThePast(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := new(memstore.Bucket)
		s := open(t, b)
		l := newVersionLog(t, s, b, "v1")
		key := l.put()
		l.drop(key)
		keep := branch.History{Minutes: 5 * time.Hour}
		time.Sleep(4 * time.Hour)
		sweepHistory(t, s, keep)
		if !there(t, b, key) {
			t.Error("the body is gone while a point names it")
		}
		time.Sleep(2*time.Hour + time.Minute)
		sweepHistory(t, s, keep)
		if there(t, b, key) {
			t.Error("the body stays")
		}
	})
}

// TestWhatLeadsToAPoint: an object whose own points are too old stays while a newer one continues it and no merged
// file does.
func TestWhatLeadsToAPoint(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := new(memstore.Bucket)
		s := open(t, b)
		acquire(t, s, "v1")
		write(t, b, "v1", branch.SnapshotLevel, 1, 9)
		write(t, b, "v1", 0, 9, 9)
		first := histOf(t, b, branch.TierMinutes, 1, 4)
		time.Sleep(4 * time.Hour)
		second := histOf(t, b, branch.TierMinutes, 5, 8)
		keep := branch.History{Minutes: 3 * time.Hour}
		for _, stays := range []bool{true, false} {
			time.Sleep(150 * time.Minute)
			sweepHistory(t, s, keep)
			if there(t, b, first.Key()) != stays || there(t, b, second.Key()) != stays {
				t.Errorf("the first object stays: %v, the second: %v; want %v", there(t, b, first.Key()), there(t, b, second.Key()), stays)
			}
		}
	})
}
