package branch_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/objstore/objstoretest"
	"github.com/svcctl/svcctl/internal/svc"
)

// registry is the registry of one project.
type registry map[string]branch.Registered

func (known registry) sweep(t *testing.T, s *branch.Store) *branch.Report {
	t.Helper()
	r, err := s.Sweep(t.Context(), "p", branch.SweepOptions{Registry: known.ask})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (known registry) ask(context.Context) (map[string]branch.Registered, error) { return known, nil }

func state(t *testing.T, s *branch.Store, version string) branch.State {
	t.Helper()
	r, err := s.Record(t.Context(), ref(version))
	if err != nil {
		t.Fatal(err)
	}
	if r == nil {
		return ""
	}
	return r.State
}

// TestRegistryMarksAndProtects: failed and destroyed versions and orphaned forks
// are marked; what the registry wants stays, whatever the records say.
func TestRegistryMarksAndProtects(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := new(memstore.Bucket)
		s := open(t, b)
		acquire(t, s, "root")
		f := write(t, b, "root", 0, 1, 1)
		for _, child := range []string{"orphan", "failed", "pending", "unregistered"} {
			fork(t, s, "root", child, 1, f)
		}
		acquire(t, s, "unregistered") // opened, and unknown to the registry
		acquire(t, s, "gone")
		unrecorded := write(t, b, "kept", 0, 1, 1)
		known := registry{"root": {}, "failed": {Forked: true}, "gone": {}, "pending": {Wanted: true}, "kept": {Wanted: true}}

		r := known.sweep(t, s)
		if d := cmp.Diff([]svc.Ref{ref("failed"), ref("gone"), ref("root")}, r.Marked); d != "" {
			t.Error(d)
		}
		if state(t, s, "orphan") != "" || state(t, s, "pending") != "" {
			t.Error("a fork was marked within the grace")
		}
		time.Sleep(61 * time.Minute)
		if r = known.sweep(t, s); !cmp.Equal(r.Marked, []svc.Ref{ref("orphan")}) || state(t, s, "unregistered") != branch.StateLive {
			t.Errorf("marked %v; the unregistered one is %q", r.Marked, state(t, s, "unregistered"))
		}
		for range 3 {
			time.Sleep(61 * time.Minute)
			r = known.sweep(t, s)
		}
		want := []branch.Usage{
			{Version: ref("kept"), Live: svc.Amount{Objects: 1, Bytes: 10}},
			{Version: ref("pending"), Forked: forkedAt(r, "pending")},
			{
				Version: ref("root"), State: branch.StateDestroying, Pinned: svc.Amount{Objects: 1, Bytes: 10},
				PinnedBy: []branch.Pin{{By: ref("pending"), Amount: svc.Amount{Objects: 1, Bytes: 10}}, {By: ref("unregistered"), Amount: svc.Amount{Objects: 1, Bytes: 10}}},
			},
			{Version: ref("unregistered"), State: branch.StateLive, Forked: forkedAt(r, "unregistered")},
		}
		if d := cmp.Diff(want, r.Versions); d != "" {
			t.Error(d)
		}
		if !has(t, b, f) || !has(t, b, unrecorded) {
			t.Error("data that is wanted is gone")
		}
	})
}

func forkedAt(r *branch.Report, version string) time.Time {
	for _, u := range r.Versions {
		if u.Version.Version == version {
			return u.Forked
		}
	}
	return time.Time{}
}

// TestRegistryOrphanOpenedMeanwhile: an orphaned fork that is opened stays.
func TestRegistryOrphanOpenedMeanwhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := new(memstore.Bucket)
		s := open(t, b)
		acquire(t, s, "root")
		fork(t, s, "root", "late", 1, write(t, b, "root", 0, 1, 1))
		time.Sleep(2 * time.Hour)
		r, err := s.Sweep(t.Context(), "p", branch.SweepOptions{Registry: func(context.Context) (map[string]branch.Registered, error) {
			acquire(t, s, "late")
			return registry{"root": {Wanted: true}}, nil
		}})
		if err != nil || len(r.Marked) > 0 || state(t, s, "late") != branch.StateLive {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

// TestRegistryKeepsAProjectWithoutItsRecords: a sweep must not take a project whose
// records were moved away for one without forks.
func TestRegistryKeepsAProjectWithoutItsRecords(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		data, records := new(memstore.Bucket), new(memstore.Bucket)
		s, err := branch.New(branch.Config{Data: data, Manifests: records, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		acquire(t, s, "root")
		f, g := write(t, data, "root", 0, 1, 1), write(t, data, "root", 0, 2, 2)
		fork(t, s, "root", "child", 1, f)
		if err := s.Destroy(t.Context(), ref("root")); err != nil {
			t.Fatal(err)
		}
		known := registry{"root": {}, "child": {Wanted: true, Forked: true}}
		known.sweep(t, s) // marks g as dead

		elsewhere, err := branch.New(branch.Config{Data: data, Manifests: new(memstore.Bucket), Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		for range 4 {
			time.Sleep(2 * time.Hour)
			r := known.sweep(t, elsewhere)
			if !errors.Is(r.Broken[ref("child")], branch.ErrManifestLost) || len(r.Gone)+len(r.Marked)+len(r.Removed) > 0 || len(r.Waiting) != 2 {
				t.Fatalf("%+v", r)
			}
		}
		if !has(t, data, f) || !has(t, data, g) {
			t.Fatal("a project without its records was swept")
		}
		known.sweep(t, s)
		if !has(t, data, f) || has(t, data, g) {
			t.Error("with its records it is swept as usual")
		}
	})
}

// TestRegistryOfAnotherNode: daemons with registries of their own share an object
// store. A version that one calls failed stays while the other owns it.
func TestRegistryOfAnotherNode(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := new(memstore.Bucket)
		s := open(t, b)
		acquire(t, s, "v1") // by node a
		f := write(t, b, "v1", 0, 1, 1)
		sweep := func(node string) *branch.Report {
			t.Helper()
			r, err := s.Sweep(t.Context(), "p", branch.SweepOptions{Registry: registry{"v1": {}}.ask, Node: node})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		if r := sweep("b"); len(r.Marked)+len(r.Waiting) > 0 || state(t, s, "v1") != branch.StateLive {
			t.Errorf("taken from its owner: %+v", r)
		}
		if r := sweep("a"); !cmp.Equal(r.Marked, []svc.Ref{ref("v1")}) {
			t.Errorf("its own node: %+v", r)
		}
		time.Sleep(61 * time.Minute)
		if sweep("b"); has(t, b, f) { // destroyed is destroyed
			t.Error("it stays")
		}
	})
}

func TestRegistryUnknown(t *testing.T) {
	t.Parallel()
	b := new(memstore.Bucket)
	s := open(t, b)
	fail := errors.New("the registry does not answer")
	_, err := s.Sweep(t.Context(), "p", branch.SweepOptions{Registry: func(context.Context) (map[string]branch.Registered, error) { return nil, fail }})
	if !errors.Is(err, fail) {
		t.Error(err)
	}
}

// TestSweepRequests: a project of 20 versions with 200 objects each costs one
// listing and a few reads for each version.
func TestSweepRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const versions, each = 20, 200
		b := objstoretest.NewFaulty(new(memstore.Bucket), objstoretest.Faults{}, 1)
		s := open(t, b)
		var files []branch.File
		for v := range versions {
			name := fmt.Sprintf("v%02d", v)
			if v > 0 {
				fork(t, s, fmt.Sprintf("v%02d", v-1), name, uint64(len(files)), files...)
			}
			acquire(t, s, name)
			for range each {
				n := uint64(len(files) + 1)
				files = append(files, write(t, b, name, 0, n, n))
			}
		}
		b.Lists.Store(0)
		b.Gets.Store(0)
		r := sweep(t, s, false)
		if len(r.Gone)+len(r.Waiting) > 0 {
			t.Errorf("%+v", r)
		}
		if lists, gets := b.Lists.Load(), b.Gets.Load(); lists != 5 || gets != 2*versions-1 {
			t.Errorf("%d listings of 1000 and %d reads for %d versions with %d objects", lists, gets, versions, versions*each)
		}

		// With something to delete it surveys twice.
		if err := s.Destroy(t.Context(), ref("v19")); err != nil {
			t.Fatal(err)
		}
		sweep(t, s, false)
		time.Sleep(2 * time.Hour)
		b.Lists.Store(0)
		b.Gets.Store(0)
		if r := sweep(t, s, false); len(r.Gone) != each || len(r.Removed) != 1 {
			t.Errorf("gone %d, removed %v", len(r.Gone), r.Removed)
		}
		if lists, gets := b.Lists.Load(), b.Gets.Load(); lists != 10 || gets > 2*2*(versions+1) {
			t.Errorf("with a deletion: %d listings and %d reads", lists, gets)
		}
	})
}

// TestDeadListClock: neither the clock of the writer of a dead list nor that of the
// object store can shorten the grace.
func TestDeadListClock(t *testing.T) {
	t.Parallel()
	for name, ahead := range map[string]time.Duration{"marked by a slow clock": -24 * time.Hour, "marked by a fast clock": 3 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := new(memstore.Bucket)
				s := open(t, b)
				acquire(t, s, "v1")
				f := write(t, b, "v1", 0, 1, 1)
				write(t, b, "v1", 9, 1, 1)
				write(t, b, "v1", 0, 2, 2)
				list, err := json.Marshal(map[string]any{"v": 1, "keys": []string{f.Key(), "p/v1/db/main/no-log"}})
				if err != nil {
					t.Fatal(err)
				}
				key := fmt.Sprintf("p/v1/gc/dead/%016x.json", time.Now().Add(ahead).UnixNano())
				if _, err := objstore.SettleBytes(t.Context(), b, key, list, objstore.Condition{IfAbsent: true}); err != nil {
					t.Fatal(err)
				}
				time.Sleep(59 * time.Minute)
				if sweep(t, s, false); !has(t, b, f) {
					t.Fatal("deleted within the grace")
				}
				time.Sleep(max(0, ahead) + 2*time.Minute)
				if sweep(t, s, false); has(t, b, f) {
					t.Error("kept after the grace")
				}
				time.Sleep(time.Hour)
				sweep(t, s, false)
				if _, err := b.Stat(t.Context(), key); !errors.Is(err, objstore.ErrNotExist) {
					t.Errorf("a list of deleted files stays: %v", err)
				}
			})
		})
	}
}

// slowDelete is a bucket in which a deletion takes a second.
type slowDelete struct{ objstore.Bucket }

func (b slowDelete) Delete(ctx context.Context, keys ...string) error {
	time.Sleep(time.Second)
	return b.Bucket.Delete(ctx, keys...)
}

// TestSweepPurgesAfterItDeletes: the grace of an orphaned fork may end during a
// sweep. The fork is purged only after the objects that it pinned are deleted.
func TestSweepPurgesAfterItDeletes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := slowDelete{new(memstore.Bucket)}
		s := open(t, b)
		acquire(t, s, "root")
		f, g := write(t, b, "root", 0, 1, 1), write(t, b, "root", 0, 2, 2)
		write(t, b, "root", 1, 1, 2)
		write(t, b, "root", 0, 3, 3)
		fork(t, s, "root", "orphan", 1, f)
		markDead(t, s, f)
		known := registry{"root": {Wanted: true}}
		time.Sleep(61 * time.Minute)
		markDead(t, s, g) // for the sweep to have something to delete
		time.Sleep(time.Second)
		if r := known.sweep(t, s); !cmp.Equal(r.Marked, []svc.Ref{ref("orphan")}) {
			t.Fatal(r.Marked)
		}
		time.Sleep(time.Hour - 500*time.Millisecond)
		if r := known.sweep(t, s); len(r.Removed) > 0 || !has(t, b, f) || has(t, b, g) {
			t.Errorf("removed %v; what it held is there: %v", r.Removed, has(t, b, f))
		}
		if r := known.sweep(t, s); len(r.Removed) != 1 || has(t, b, f) {
			t.Errorf("removed %v; what it held is there: %v", r.Removed, has(t, b, f))
		}
	})
}

func markDead(t *testing.T, s *branch.Store, f branch.File) {
	t.Helper()
	if err := s.MarkDead(t.Context(), ref("root"), []string{f.Key()}); err != nil {
		t.Fatal(err)
	}
}
