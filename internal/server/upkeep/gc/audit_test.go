package gc_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore/objstoretest"
	"github.com/svcctl/svcctl/internal/svc"
)

func (w *world) remove(key string) {
	w.t.Helper()
	if err := w.bucket.Delete(w.t.Context(), key); err != nil {
		w.t.Fatal(err)
	}
}

// archive archives a version at transaction txid.
func (w *world) archive(id string, txid uint64) { w.archiveWith(id, txid, nil) }

// archiveWith also sets the cuts for forks.
func (w *world) archiveWith(id string, txid uint64, cuts map[string]branch.Cut) {
	w.t.Helper()
	g, err := w.branches.Acquire(w.t.Context(), ref(id), svc.Owner{Node: "h", Session: "s"}, "")
	if err == nil {
		err = w.branches.Archive(w.t.Context(), g, map[string]uint64{"main": txid}, cuts)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.registry.set("shop", id, svc.StatusArchived, "")
}

const main = "/db/main/ltx/"

// TestAuditFinds makes one defect at a time. parent has transactions 1 to 3; child,
// forked at 2, has its own 3 and 4.
func TestAuditFinds(t *testing.T) {
	t.Parallel()
	slot := func(version string, n int) string {
		return fmt.Sprintf("shop/%s%s0000/%016x-%016x.ltx", version, main, n, n)
	}
	for name, tc := range map[string]struct {
		do   func(w *world)
		want []string // code, version, database, key and count
	}{
		"nothing": {do: func(*world) {}},
		"a file that a manifest names": {
			do:   func(w *world) { w.remove(slot("parent", 2)) },
			want: []string{"file_missing child main " + slot("parent", 2) + " 1", "not_restorable child main " + slot("child", 4) + " 1", "log_hole parent main " + slot("parent", 2) + " 1"},
		},
		"all of them": {
			do: func(w *world) {
				w.destroy("parent")
				for n := range 2 {
					w.remove(slot("parent", n+1))
				}
			},
			want: []string{"file_missing child main " + slot("parent", 1) + " 2", "not_restorable child main " + slot("child", 4) + " 1"},
		},
		"a file of another size": {
			do:   func(w *world) { w.put(slot("parent", 1), "torn") },
			want: []string{"file_size child main " + slot("parent", 1) + " 1", "not_restorable child main " + slot("child", 4) + " 1"},
		},
		"an empty file": {
			do:   func(w *world) { w.put(slot("child", 3), "") },
			want: []string{"file_size child main " + slot("child", 3) + " 1", "not_restorable child main " + slot("child", 4) + " 1"},
		},
		"a hole": {
			do:   func(w *world) { w.remove(slot("child", 3)) },
			want: []string{"log_hole child main " + slot("child", 3) + " 1"},
		},
		"the end of an archived log": {
			do:   func(w *world) { w.archive("child", 4); w.remove(slot("child", 4)) },
			want: []string{"log_short child main " + slot("child", 4) + " 1"},
		},
		"a file that a fork would name": {
			do: func(w *world) {
				w.file("parent", 1, 1, 3)
				w.archiveWith("parent", 3, cutOf(branchFiles("parent", 1, 3)))
				w.markDead("parent", branchFiles("parent", 1, 1)...)
				w.remove(slot("parent", 1))
				w.destroy("child")
				time.Sleep(84 * time.Minute)
			},
			want: []string{"file_missing parent main " + slot("parent", 1) + " 1", "overdue child  " + slot("child", 3) + " 2"},
		},
		"nothing that a fork would name is overdue": {
			do: func(w *world) {
				w.file("parent", 1, 1, 3)
				w.archiveWith("parent", 3, cutOf(branchFiles("parent", 1, 3)))
				w.markDead("parent", branchFiles("parent", 1, 2)...)
				time.Sleep(84 * time.Minute)
			},
		},
		"all of an archived version": {
			do: func(w *world) {
				w.archive("parent", 3)
				w.destroy("child")
				for n := range 3 {
					w.remove(slot("parent", n+1))
				}
			},
			want: []string{"log_short parent main " + slot("parent", 1) + " 1"},
		},
		"needed files are marked": {
			do: func(w *world) {
				w.markDead("child", branch.File{Prefix: "shop/child/db/main", Min: 3, Max: 3})
			},
			want: []string{"marked_needed child main " + slot("child", 4) + " 1"},
		},
		"a manifest": {
			do:   func(w *world) { w.remove("shop/child/branch.json") },
			want: []string{"manifest_missing child  shop/child/branch.json 1", "log_hole child main " + slot("child", 1) + " 1"},
		},
		"an unreadable manifest": {
			do:   func(w *world) { w.put("shop/child/branch.json", "{}") },
			want: []string{"record_unreadable child   1", "log_hole child main " + slot("child", 1) + " 1"},
		},
		"an unreadable record": {
			do:   func(w *world) { w.put("shop/parent/version.json", "x") },
			want: []string{"record_unreadable parent   1"},
		},
		"a record that says destroyed": {
			do: func(w *world) {
				if err := w.branches.Destroy(w.t.Context(), ref("child")); err != nil {
					w.t.Fatal(err)
				}
			},
			want: []string{"record_destroyed child   1"},
		},
		"data of an unknown version": {
			do: func(w *world) {
				w.open("unknown")
				w.write("unknown", 1, 2)
			},
			want: []string{"version_unknown unknown  shop/unknown/ 1"},
		},
		"data that another node owns": {
			do: func(w *world) {
				if _, err := w.branches.Acquire(w.t.Context(), ref("elsewhere"), svc.Owner{Node: "other", Session: "s"}, ""); err != nil {
					w.t.Fatal(err)
				}
				w.write("elsewhere", 1, 2)
				w.registry.set("shop", "elsewhere", svc.StatusFailed, "")
			},
			want: []string{"version_unknown elsewhere  shop/elsewhere/ 1"},
		},
		"nothing is swept": {
			do: func(w *world) {
				w.write("child", 5, 6)
				w.destroy("child")
				time.Sleep(84 * time.Minute)
			},
			want: []string{"overdue child  " + slot("child", 3) + " 4"},
		},
		"nothing superseded is swept": {
			do: func(w *world) {
				w.file("child", 1, 3, 4)
				w.markDead("child", branch.File{Prefix: "shop/child/db/main", Min: 3, Max: 3})
				time.Sleep(84 * time.Minute)
			},
			want: []string{"overdue child  " + slot("child", 3) + " 1"},
		},
		"nothing unknown is swept": {
			do: func(w *world) {
				w.write("orphan", 1, 1)
				time.Sleep(84 * time.Minute)
			},
			want: []string{"overdue orphan  " + slot("orphan", 1) + " 1"},
		},
		"not overdue yet": {do: func(w *world) {
			f := w.write("parent", 4, 4)
			w.forkOnly("parent", "fork-orphan", branchFiles("parent", 1, 4)...)
			w.destroy("child")
			w.destroy("parent")
			w.markDead("parent", f...)
			time.Sleep(82 * time.Minute)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.version("parent")
				f := w.write("parent", 1, 3)
				w.fork("parent", "child", f[:2]...)
				w.write("child", 3, 4)
				tc.do(w)
				a := w.audit()
				var got []string
				for _, p := range a.Problems {
					got = append(got, fmt.Sprintf("%s %s %s %s %d", p.Code, p.Ref.Version, p.Database, p.Key, p.Count))
					if p.Detail == "" || p.Ref.Project != "shop" {
						t.Errorf("%+v", p)
					}
				}
				slices.Sort(got)
				slices.Sort(tc.want)
				if d := cmp.Diff(tc.want, got); d != "" || w.counted.problems != len(tc.want) {
					t.Error(d)
				}
				if text := w.log.String(); len(tc.want) > 0 && (strings.Count(text, "level=ERROR") < len(tc.want) || !strings.Contains(text, "code=")) {
					t.Error("not in the log: " + text)
				}
			})
		})
	}
}

func cutOf(files []branch.File) map[string]branch.Cut {
	return map[string]branch.Cut{"main": {Kind: "d1", PageSize: 4096, TXID: files[len(files)-1].Max, Files: files}}
}

func branchFiles(version string, lo, hi uint64) (files []branch.File) {
	for n := lo; n <= hi; n++ {
		files = append(files, branch.File{Prefix: branch.DatabasePrefix(ref(version), "main"), Min: n, Max: n, Size: 10})
	}
	return files
}

// TestAuditChecksTwice: a change between the listing and the reads is not a problem.
func TestAuditChecksTwice(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(w *world){
		"a version is forked off a new transaction": func(w *world) {
			f := w.write("parent", 4, 4)
			w.registry.set("shop", "child", svc.StatusBranching, "")
			w.forkOnly("parent", "child", append(branchFiles("parent", 1, 3), f...)...)
		},
		"a version is destroyed": func(w *world) {
			w.destroy("parent")
			w.remove("shop/parent" + main + "0000/0000000000000002-0000000000000002.ltx")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			once := make(chan func(), 1) // at the first read of a record
			w := newWorldOn(t, &objstoretest.Hooked{Bucket: new(memstore.Bucket), Around: func(_ context.Context, op objstoretest.Op, key string, do func() error) error {
				err := do()
				if op == objstoretest.List && key == "shop/" {
					select {
					case fn := <-once:
						fn()
					default:
					}
				}
				return err
			}})
			w.version("parent")
			w.registry.set("shop", "child", svc.StatusPending, "")
			w.write("parent", 1, 3)
			once <- func() { do(w) }
			if a := w.audit(); len(a.Problems) > 0 || len(once) > 0 {
				t.Errorf("%+v", a.Problems)
			}
		})
	}
}

// TestAuditContinues: a project that cannot be audited is a problem and does not stop
// the audit.
func TestAuditContinues(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("broken/v1/gc/dead/no-number.json", "{}")
	w.version("v1")
	w.write("v1", 1, 2)
	w.remove("shop/v1" + main + "0000/0000000000000001-0000000000000001.ltx")
	a := w.audit()
	if len(a.Problems) != 2 || a.Problems[0].Code != "audit_failed" || a.Problems[0].Ref.Project != "broken" || a.Problems[1].Code != "log_hole" {
		t.Errorf("%+v", a)
	}
	if w.counted.problems != 2 || !strings.Contains(w.log.String(), "no-number") {
		t.Errorf("%+v: %s", w.counted, w.log)
	}
}

// TestObjectStoreDown: an outage of the object store is an error, not a problem.
func TestObjectStoreDown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := objstoretest.NewFaulty(new(memstore.Bucket), objstoretest.Faults{Before: 1}, 1)
		w := newWorldOn(t, b)
		if a, err := w.gc.Audit(t.Context(), ""); svc.CodeOf(err) != "store_unavailable" || len(a.Problems) > 0 {
			t.Errorf("%+v, %v", a, err)
		}
		if r, err := w.gc.Collect(t.Context(), svc.GCRequest{}); svc.CodeOf(err) != "store_unavailable" || len(r.Projects) > 0 {
			t.Errorf("%+v, %v", r, err)
		}
		if sweeps, audits := w.counted.seen(); sweeps+audits > 0 {
			t.Error("failed runs count as done")
		}
	})
}
