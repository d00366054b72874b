package divergence_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/server/versions/divergence"
	"github.com/svcctl/svcctl/internal/svc"
)

// diff returns the records of a diff between the first and the last.
func (w *world) diff(o svc.DataDiff, change ...func(*divergence.Deps)) (records []svc.ExportRecord, start svc.ExportStart, err error) {
	w.t.Helper()
	o.Project = "p"
	err = w.service(change...).Diff(w.t.Context(), o, func(r svc.ExportRecord) error {
		switch r.Kind { //nolint:exhaustive // the others are below
		case svc.ExportBegin:
			start = *r.Start
		case svc.ExportEnd:
		default:
			records = append(records, r)
		}
		return nil
	})
	return records, start, err
}

func summary(records []svc.ExportRecord) (lines []string) {
	for _, r := range records {
		if c := r.Counts; c != nil {
			lines = append(lines, fmt.Sprintf("%s %s %s +%d ~%d -%d", r.Of, r.Resource, r.Table, c.Inserted, c.Updated, c.Deleted))
		} else {
			lines = append(lines, fmt.Sprintf("%s %s %s %s %s", r.Kind, r.Op, r.Resource, r.Table, r.Key))
		}
	}
	return lines
}

// TestDiff: all kinds of data, in both directions of the fork; what both wrote alike does not count.
func TestDiff(t *testing.T) {
	t.Parallel()
	w := bookshop(t)
	w.exec("v2", "database-shop: DELETE FROM customers; INSERT INTO customers VALUES (3, 'cleo', NULL), (2, 'bob', NULL)",
		"sys: INSERT INTO kv_entry(namespace, key, value) VALUES (1, 'x', x'31'), (1, 'd', x'63')")
	records, start, err := w.diff(svc.DataDiff{Ref: ref("v2"), With: "v1"})
	want := []string{
		"schema insert logs log table log",
		"row logs log +1 ~0 -0",
		"row shop customers +2 ~1 -0",
		"key cache  +1 ~2 -2", "key new  +1 ~0 -0", "message dead  +1 ~0 -0", "message jobs  +1 ~1 -0", "object files  +1 ~1 -1",
	}
	if d := cmp.Diff(want, summary(records)); d != "" || err != nil || start.Common != "v1" {
		t.Error(d, err, start)
	}
	records, _, err = w.diff(svc.DataDiff{Ref: ref("v2"), With: "v1", Rows: true, Table: "customers"})
	i := slices.IndexFunc(records, func(r svc.ExportRecord) bool { return r.Op == svc.ExportUpdate })
	if err != nil || i < 0 || records[i].Was["name"] != "bob" || records[i].Values["name"] != "bert" ||
		records[i].SQL != `UPDATE "customers" SET "name" = 'bert' WHERE "id" IS 2 AND "name" IS 'bob' AND "data" IS NULL` {
		t.Errorf("%+v, %v", records, err)
	}
	if records, _, err := w.diff(svc.DataDiff{Ref: ref("v1"), With: "v1"}); svc.CodeOf(err) != svc.CodeInvalidParameter || records != nil {
		t.Errorf("with itself: %v", err)
	}
}

// TestDiffUnrelated: versions without a common file are read as a whole, above a limit only if asked.
func TestDiffUnrelated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.version("v1", "")
	w.version("v2", "")
	w.exec("v1", customers)
	w.exec("v2", customers, "database-shop: DELETE FROM customers WHERE id = 1")
	small := func(d *divergence.Deps) { d.DiffPages = 1 }
	if records, _, err := w.diff(svc.DataDiff{Ref: ref("v1"), With: "v2"}, small); svc.CodeOf(err) != svc.CodeDiffTooLarge || records != nil {
		t.Errorf("limit: %v, %v", records, err)
	}
	if records, _, err := w.diff(svc.DataDiff{Ref: ref("v1"), With: "v2", Table: "customers"}, small); svc.CodeOf(err) != svc.CodeDiffTooLarge || len(records) > 0 {
		t.Errorf("limit of a table: %v, %v", records, err)
	}
	records, start, err := w.diff(svc.DataDiff{Ref: ref("v1"), With: "v2", Full: true}, small)
	if d := cmp.Diff([]string{"row shop customers +0 ~0 -1"}, summary(records)); d != "" || err != nil || start.Reason != svc.NoCutUnrelated {
		t.Error(d, err, start)
	}
}

// TestDiffMany: many records are counted without being held, and values beyond the memory of a diff are
// refused.
func TestDiffMany(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.version("v1", "")
	w.exec("v1", customers, kinds)
	w.version("v2", "v1")
	w.exec("v2", "database-shop: WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 409) INSERT INTO customers SELECT i, 'name', zeroblob(9000) FROM n",
		"sys: WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i <= 10000) INSERT INTO kv_entry(namespace, key, value) SELECT 1, 'session/' || i, x'61' FROM n",
		"sys: INSERT INTO kv_entry(namespace, key, value) VALUES (1, 'long', zeroblob(70000)), (1, 'k' || char(0) || 'odd', CAST('"+strings.Repeat("t", 70000)+"' AS BLOB))")
	few := func(d *divergence.Deps) { d.DiffBytes = 4 << 20 }
	records, _, err := w.diff(svc.DataDiff{Ref: ref("v2")}, few)
	if d := cmp.Diff([]string{"row shop customers +400 ~0 -0", "key cache  +10003 ~0 -0"}, summary(records)); d != "" || err != nil {
		t.Error(d, err)
	}
	if _, _, err := w.diff(svc.DataDiff{Ref: ref("v2"), Rows: true, Table: "customers"}, few); svc.CodeOf(err) != svc.CodeDiffTooLarge || !strings.Contains(svc.AsError(err).Hint, "leave out --rows") {
		t.Errorf("rows: %v", err)
	}
	records, _, err = w.diff(svc.DataDiff{Ref: ref("v2"), Rows: true})
	if err != nil || len(records) != 10405 {
		t.Fatalf("%d records, %v", len(records), err)
	}
	for _, r := range records {
		if v, ok := r.Values["value"].(map[string]any); ok && (v["$bytes"] != 70000 || len(fmt.Sprint(v["$sha256"])) != 64) {
			t.Errorf("%s: %v", r.Key, v)
		}
	}
}
