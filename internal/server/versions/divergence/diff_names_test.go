package divergence_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/svc"
)

// durables are the tables with the storage of Durable Objects.
const durables = `durable: CREATE TABLE durable_object(id INTEGER PRIMARY KEY, class TEXT NOT NULL, name TEXT NOT NULL, pages INTEGER NOT NULL, epoch INTEGER NOT NULL) STRICT;
	CREATE TABLE durable_page(id INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT`

// TestDiffDurable: the Durable Objects whose pages differ, by class, without the namespace of the project.
func TestDiffDurable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.version("v1", "")
	w.exec("v1", durables, `durable: INSERT INTO durable_object VALUES (1, 'secret~Room', 'a', 1, 1), (2, 'secret~Room', 'b', 1, 1), (3, 'secret~Room', 'metadata', 1, 1), (9, 'secret~Room', 'a.1', 1, 1);
		INSERT INTO durable_page SELECT id << 32 | 1, x'00' FROM durable_object`)
	w.version("v2", "v1")
	w.exec("v2", `durable: UPDATE durable_page SET data = x'01' WHERE id IN (2 << 32 | 1, 3 << 32 | 1, 9 << 32 | 1);
		INSERT INTO durable_object VALUES (4, 'Room', 'c', 1, 1); INSERT INTO durable_page VALUES (4 << 32 | 1, x'02')`)
	w.exec("v1", `durable: INSERT INTO durable_object VALUES (4, 'Room', 'd', 1, 1); INSERT INTO durable_page VALUES (4 << 32 | 1, x'02')`)
	records, _, err := w.diff(svc.DataDiff{Ref: ref("v1"), With: "v2", Rows: true})
	want := []string{
		"durable_object delete Room  d", "durable_object update Room  a", "durable_object update Room  b", "durable_object insert Room  c", "durable_object Room  +1 ~2 -1",
	}
	if d := cmp.Diff(want, summary(records)); d != "" || err != nil {
		t.Error(d, err)
	}
}

// TestDiffNames: one id names different namespaces, buckets, queues and objects in two versions whose
// rows are equal, on equal pages; and one name has two ids.
func TestDiffNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.version("root", "")
	w.exec("root", kinds, durables)
	w.version("a", "root")
	w.version("b", "root")
	for version, names := range map[string][3]string{"a": {"of a", "both", "1a"}, "b": {"of b", "other", "1b"}} {
		w.exec(version,
			fmt.Sprintf("sys: INSERT INTO kv_namespace VALUES (2, '%s'); INSERT INTO object_bucket VALUES (2, '%[1]s'); INSERT INTO queue(id, name) VALUES (3, '%[1]s')", names[0]),
			"sys: INSERT INTO kv_entry(id, namespace, key, value) VALUES (10, 2, 'k', x'31'); INSERT INTO object_entry VALUES (3, 2, 'o', 'v', 1, 'e', 0, 'Standard', NULL, NULL, NULL, x'6f')",
			"sys: INSERT INTO queue_message VALUES (2, 3, 0, 0, 0, NULL, 'm2', 'json', x'31'), (3, 2, 0, 0, 0, 3, 'm3', 'json', x'31')",
			fmt.Sprintf("durable: INSERT INTO durable_object VALUES (4, 'Room', '%s', 1, 1); INSERT INTO durable_page VALUES (4 << 32 | 1, x'02')", strings.Repeat(names[2], 32)))
	}
	w.exec("a", "sys: INSERT INTO kv_namespace VALUES (3, 'one'), (4, 'two'); INSERT INTO kv_entry(id, namespace, key, value) VALUES (20, 3, 'k', x'31'), (21, 4, 'k', x'32')")
	w.exec("b", "sys: INSERT INTO kv_namespace VALUES (3, 'two'), (4, 'one'); INSERT INTO kv_entry(id, namespace, key, value) VALUES (20, 3, 'k', x'32'), (21, 4, 'k', x'31')")
	for version, ids := range map[string][2]int{"a": {5, 6}, "b": {6, 5}} { // each object has the other's page
		w.exec(version, fmt.Sprintf("durable: INSERT INTO durable_object VALUES (%d, 'Room', '%s', 1, 1), (%d, 'Room', '%s', 1, 1); INSERT INTO durable_page VALUES (5 << 32 | 1, x'05'), (6 << 32 | 1, x'06')",
			ids[0], strings.Repeat("c", 64), ids[1], strings.Repeat("d", 64)))
	}
	records, _, err := w.diff(svc.DataDiff{Ref: ref("a"), With: "b"})
	want := []string{
		"durable_object Room  +1 ~2 -1",
		"key of a  +0 ~0 -1", "key of b  +1 ~0 -0",
		"message dead  +0 ~1 -0", "message of a  +0 ~0 -1", "message of b  +1 ~0 -0",
		"object of a  +0 ~0 -1", "object of b  +1 ~0 -0",
	}
	if d := cmp.Diff(want, summary(records)); d != "" || err != nil {
		t.Error(d, err)
	}
}

// TestDiffExpired: a key that has expired is one that no worker reads.
func TestDiffExpired(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.version("a", "")
	w.exec("a", kinds)
	w.version("b", "a")
	w.exec("b", "sys: INSERT INTO kv_entry(namespace, key, expiration, value) VALUES (1, 'gone', 1, x'31'), (1, 'soon', 99999999999, x'31'); UPDATE kv_entry SET expiration = 1 WHERE key = 'a'",
		"sys: UPDATE object_entry SET uploaded = 9 WHERE key = 'old'")
	records, _, err := w.diff(svc.DataDiff{Ref: ref("b"), Rows: true})
	want := []string{"key delete cache  a", "key insert cache  soon", "key cache  +1 ~0 -1"}
	if d := cmp.Diff(want, summary(records)); d != "" || err != nil {
		t.Error(d, err)
	}
}

// TestDiffOwn: what a version changed since it was forked, also after its parent wrote and was destroyed.
func TestDiffOwn(t *testing.T) {
	t.Parallel()
	w := bookshop(t)
	gone := w.versions["v1"]
	gone.Status = svc.StatusDestroyed
	w.close("v1")
	w.versions["v1"] = gone
	for range 2 { // running, then stored
		records, start, err := w.diff(svc.DataDiff{Ref: ref("v2")})
		if d := cmp.Diff([]string{"row shop customers +1 ~0 -3"}, summary(records)); d != "" || err != nil || start.Common != "v1" || start.At.IsZero() {
			t.Error(d, err, start)
		}
		if w.open["v2"] != nil {
			w.close("v2")
		}
	}
	w.version("root", "")
	w.exec("root", customers)
	records, start, err := w.diff(svc.DataDiff{Ref: ref("root"), Database: "shop"})
	if d := cmp.Diff([]string{"schema insert shop customers table customers", "row shop customers +3 ~0 -0"}, summary(records)); d != "" || err != nil || start.Common != "" {
		t.Error(d, err, start)
	}
	for from, code := range map[string]string{"none": svc.CodeVersionNotFound, "v1": svc.CodeVersionDestroyed} {
		if records, _, err := w.diff(svc.DataDiff{Ref: ref(from), With: "v2"}); svc.CodeOf(err) != code || records != nil {
			t.Errorf("from %s: %v, %v", from, records, err)
		}
	}
}
