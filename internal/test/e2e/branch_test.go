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

// fork deploys a child of parent, with the same code, and signs it.
func (w *world) fork(child, parent string) api.Version {
	w.t.Helper()
	ref := at(book, child)
	w.parent[ref] = parent
	w.create(ref, guestbookBundle(w.t))
	w.signed[ref] = slices.Clone(w.signed[at(book, parent)])
	v := w.ended(book, child)
	if v.Status != api.VersionStatusReady {
		w.t.Fatalf("%s: %s: %s", child, v.Status, v.Error)
	}
	if v.ForkTXID == "" || v.ParentVersionID == nil || *v.ParentVersionID != parent {
		w.t.Errorf("%s was forked at %q from %v", child, v.ForkTXID, v.ParentVersionID)
	}
	w.checkData(v)
	w.write(v, "in-"+child)
	return v
}

// checkAll checks the data of versions that serve.
func (w *world) checkAll(versions ...string) {
	w.t.Helper()
	for _, v := range versions {
		w.checkData(w.ended(book, v))
	}
}

func (w *world) noCache(version string) {
	w.t.Helper()
	if _, err := os.Lstat(filepath.Join(w.dataDir(), "versions", book, version)); !os.IsNotExist(err) {
		w.t.Errorf("the cache of %s is still there (%v)", version, err)
	}
}

// TestBranch: a child begins with its parent's data at one cut, whether the parent
// runs, is archived or has no files on this machine; after the cut neither sees the
// other's writes.
// spec: [C2.5] [C2.6] [C2.7] [C2.8] [C2.9] [C2.13] [C2.19] [C4.3] [C9.2]
func TestBranch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v1 := w.ended(book, "v1")
	child := w.fork("child", "v1")
	w.write(v1, "later-in-v1")
	w.checkAll("v1", "child")
	w.fork("grandchild", "child")
	w.write(child, "later-in-child")
	w.checkAll("v1", "child", "grandchild")
	w.branched("grandchild", "child")

	w.ok(w.home, "versions", "archive", book+"/child")
	w.noCache("child")
	w.fork("of-archived", "child")
	w.ok(w.home, "versions", "wake", book+"/child")
	w.checkAll("child", "of-archived")
	w.write(w.ended(book, "child"), "after-wake")
	w.checkAll("v1", "child", "grandchild", "of-archived")

	w.kill()
	w.restart()
	w.checkAll("v1", "child", "grandchild", "of-archived")

	// The cache may vanish while nothing runs, an ancestor may be destroyed.
	if code := w.stop(); code != 0 {
		t.Errorf("the daemon ended with %d", code)
	}
	if err := os.RemoveAll(filepath.Join(w.dataDir(), "versions")); err != nil {
		t.Fatal(err)
	}
	if !w.start() {
		t.Fatalf("the daemon does not start again:\n%s", w.log.String())
	}
	w.checkAll("v1", "child", "grandchild", "of-archived")
	w.ok(w.home, "versions", "delete", "--yes", book+"/child")
	w.ok(w.home, "versions", "archive", book+"/grandchild")
	w.ok(w.home, "versions", "wake", book+"/grandchild")
	w.checkAll("v1", "grandchild", "of-archived")
}

// branched checks what the API reports of a child's data.
func (w *world) branched(child, parent string) {
	w.t.Helper()
	v := w.ended(book, child)
	list, err := w.client().Bindings(w.t.Context(), book, child)
	if err != nil {
		w.t.Fatal(err)
	}
	stored := 0
	for _, b := range list {
		if b.Kind != "database" && b.Kind != "kv" {
			continue
		}
		stored++
		if !b.Branched || b.ParentVersionID == nil || *b.ParentVersionID != parent || b.ForkTXID == "" {
			w.t.Errorf("binding %+v", b)
		}
	}
	if stored == 0 {
		w.t.Error("no binding has data")
	}
	svctest.Succeeds(w.t, "the last write to be in the log", func() error {
		databases, err := w.client().Databases(w.t.Context(), book, child)
		if err == nil && (len(databases) != 1 || databases[0].ForkTXID != v.ForkTXID || databases[0].HeadTXID == databases[0].ForkTXID) {
			err = fmt.Errorf("forked at %s: %+v", v.ForkTXID, databases)
		}
		return err
	})
	metrics, err := fetch(w.t.Context(), http.DefaultClient, http.MethodGet, w.note.API+"/metrics", "")
	if err != nil || !strings.Contains(metrics.Body, "svc_branch_bytes_copied 0\n") || strings.Contains(metrics.Body, "svc_branch_seconds_count 0\n") {
		w.t.Errorf("%v:\n%s", err, metrics.Body)
	}
}

// TestForkIsSmall: the bytes that a fork writes do not grow with the data.
// spec: [C2.2] [C2.9]
func TestForkIsSmall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v1 := w.ended(book, "v1")
	for i := range 12 {
		w.write(v1, fmt.Sprint("entry-", i))
	}
	w.fork("child", "v1")
	infos, err := objstore.ListAll(t.Context(), w.objects("svc-runtime"), book+"/child/")
	if err != nil {
		t.Fatal(err)
	}
	var total int64
	for _, info := range infos {
		total += info.Size
	}
	if total == 0 || total > 20<<10 {
		t.Errorf("the child has %d bytes in %d objects", total, len(infos))
	}
}

// TestFaultsFork kills the daemon at every step of a fork. After a restart the
// child becomes ready without a client, with all writes of its parent before the
// request, and none after it was ready.
// spec: [C2.8] [C2.13]
func TestFaultsFork(t *testing.T) {
	t.Parallel()
	for _, point := range []string{
		"deploy/branching/started:2", "branch/fork/cut", "branch/fork/committed", "deploy/branching/forked", "deploy/branching/done:2",
	} {
		t.Run(strings.ReplaceAll(point, "/", "-"), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "SVC_FAILPOINT="+point)
			child := at(book, "child")
			w.parent[child] = "v1"
			w.create(child, guestbookBundle(t))
			w.signed[child] = slices.Clone(w.signed[at(book, "v1")])
			w.restart()
			v := w.ended(book, "child")
			w.write(w.ended(book, "v1"), "later")
			w.checkAll("v1", "child")
			w.write(v, "in-child")
			w.checkAll("v1", "child")
			w.check("v1")
		})
	}
}
