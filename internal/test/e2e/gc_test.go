//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

// restartFor starts the daemon anew with another environment, after its caches
// are gone.
func (w *world) restartFor(env ...string) {
	w.t.Helper()
	if code := w.stop(); code != 0 {
		w.t.Errorf("the daemon ended with %d", code)
	}
	if err := os.RemoveAll(filepath.Join(w.dataDir(), "versions")); err != nil {
		w.t.Fatal(err)
	}
	if !w.start(env...) {
		w.t.Fatalf("the daemon does not start again:\n%s", w.log.String())
	}
}

// garbage is what the daemon says of the guestbook's objects.
func (w *world) garbage() (api.GarbageReport, map[string]api.GarbageVersion) {
	w.t.Helper()
	r, err := w.client().Garbage(w.t.Context(), book)
	if err != nil || r.Incomplete || len(r.Projects) != 1 || r.Projects[0].Error != "" || len(r.Projects[0].Broken) > 0 {
		w.t.Fatalf("%v: %+v", err, r)
	}
	versions := map[string]api.GarbageVersion{}
	for _, v := range r.Projects[0].Versions {
		versions[v.VersionID] = v
	}
	return r, versions
}

// collected waits until a sweep has nothing to do and nothing to wait for.
func (w *world) collected() map[string]api.GarbageVersion {
	w.t.Helper()
	var versions map[string]api.GarbageVersion
	svctest.Succeeds(w.t, "all garbage to be gone", func() error {
		var r api.GarbageReport
		if r, versions = w.garbage(); r.Total.Waiting.Objects+r.Total.Gone.Objects > 0 {
			return fmt.Errorf("%+v", r.Total)
		}
		return nil
	})
	return versions
}

func (w *world) audited() {
	w.t.Helper()
	if out := w.ok(w.home, "admin", "gc", "--audit"); !strings.Contains(out, "no problem") {
		w.t.Error(out)
	}
}

func pinners(v api.GarbageVersion) (names []string) {
	for _, p := range v.PinnedBy {
		names = append(names, p.VersionID)
	}
	return names
}

// TestGarbage: a parent and one of its children are destroyed and collected.
// The other child and the grandchild have everything, also cold; once they are
// gone nothing is left of any of them.
// spec: [C2.2] [C2.5] [C2.6] [C2.7]
func TestGarbage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(at(book, "parent"))
	parent := w.ended(book, "parent")
	for i := range 4 {
		w.write(parent, fmt.Sprint("entry-", i))
	}
	middle := w.fork("middle", "parent")
	w.fork("child", "parent")
	w.fork("grandchild", "middle")
	w.write(parent, "for-itself")
	w.write(middle, "for-itself")
	w.audited()

	soon := []string{"SVC_GC_GRACE=4s", "SVC_LEASE_TTL=1s", "SVC_GC_EVERY=1s"}
	w.restartFor(soon...)
	w.ok(w.home, "versions", "delete", "--yes", book+"/parent")
	w.ok(w.home, "versions", "delete", "--yes", book+"/middle")
	versions := w.collected()
	if got, want := pinners(versions["parent"]), []string{"child", "grandchild"}; !slices.Equal(got, want) {
		t.Errorf("the parent is pinned by %v", got)
	}
	if got, want := pinners(versions["middle"]), []string{"grandchild"}; !slices.Equal(got, want) {
		t.Errorf("the middle is pinned by %v", got)
	}
	for _, id := range []string{"parent", "middle"} {
		if v := versions[id]; v.Status != "destroyed" || v.State != "destroying" || v.Live.Objects > 0 || v.Pinned.Objects == 0 {
			t.Errorf("%s: %+v", id, v)
		}
	}
	if table := w.ok(w.home, "admin", "gc", "--dry-run"); !strings.Contains(table, "child,grandchild") {
		t.Errorf("the table does not name the pins:\n%s", table)
	}
	w.checkAll("child", "grandchild")
	w.audited()

	w.write(w.ended(book, "child"), "after the sweep")
	for _, id := range []string{"child", "grandchild"} {
		w.ok(w.home, "versions", "archive", book+"/"+id)
	}
	w.restartFor(soon...)
	w.collected() // what archiving has merged
	w.audited()
	for _, id := range []string{"child", "grandchild"} {
		w.noCache(id)
		w.ok(w.home, "versions", "wake", book+"/"+id)
	}
	w.checkAll("v1", "child", "grandchild")

	for _, id := range []string{"child", "grandchild"} {
		w.ok(w.home, "versions", "delete", "--yes", book+"/"+id)
	}
	if out := w.ok(w.home, "admin", "gc"); !strings.Contains(out, "deleted: ") {
		t.Error(out)
	}
	svctest.Succeeds(w.t, "nothing to be left but production", func() error {
		left, err := objstore.ListAll(t.Context(), w.objects("svc-runtime"), "")
		for _, info := range left {
			if info.Key != book+"/production.json" && !strings.HasPrefix(info.Key, book+"/v1/") {
				return fmt.Errorf("%s, and %d more objects", info.Key, len(left)-1)
			}
		}
		return err
	})
	w.checkAll("v1")
	w.audited()
	svctest.Succeeds(w.t, "the metrics of the last sweep", func() error {
		metrics, err := fetch(t.Context(), http.DefaultClient, http.MethodGet, w.note.API+"/metrics", "")
		if err != nil || strings.Contains(metrics.Body, "svc_gc_deleted_objects_total 0\n") || !strings.Contains(metrics.Body, "svc_gc_pinned_bytes 0\n") ||
			!strings.Contains(metrics.Body, "svc_gc_audit_problems 0\n") || strings.Contains(metrics.Body, "svc_gc_last_sweep_timestamp_seconds 0\n") {
			return fmt.Errorf("%w:\n%s", err, metrics.Body)
		}
		return nil
	})
}
