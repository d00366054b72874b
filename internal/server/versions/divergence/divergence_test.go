package divergence_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/server/versions/divergence"
	"github.com/svcctl/svcctl/internal/svc"
)

const orders = `database-shop: CREATE TABLE orders(id INTEGER PRIMARY KEY, what TEXT); CREATE TABLE _cf_seed(path);
	WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) INSERT INTO orders SELECT i, hex(randomblob(40)) FROM n`

const records = `sys: CREATE TABLE kv_entry(id INTEGER PRIMARY KEY, key TEXT, value BLOB); CREATE TABLE object_entry(id INTEGER PRIMARY KEY, key TEXT);
	CREATE TABLE queue_message(id INTEGER PRIMARY KEY, body); CREATE TABLE queue(id INTEGER PRIMARY KEY, count INT);
	INSERT INTO kv_entry(key) VALUES ('a'), ('b'); INSERT INTO queue_message(body) VALUES (1)`

// shop is production v1 with data, v2 that was forked from it, and writes after that.
func shop(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.version("v1", "")
	w.exec("v1", orders, records, "own-workflow: CREATE TABLE instance(id INTEGER PRIMARY KEY); INSERT INTO instance VALUES (1), (2)")
	w.version("v2", "v1")
	w.exec("v1",
		"database-shop: INSERT INTO orders(what) VALUES ('x'), ('y'), ('z'); INSERT INTO _cf_seed VALUES (1)",
		"database-shop: UPDATE orders SET what = 'w' WHERE id = 17; DELETE FROM orders WHERE id > 3001",
		"database-logs: CREATE TABLE log(line); INSERT INTO log VALUES (1)",
		"sys: INSERT INTO kv_entry(key) VALUES ('c'); UPDATE kv_entry SET value = 1 WHERE key = 'a'; DELETE FROM kv_entry WHERE key = 'b'",
		"sys: INSERT INTO object_entry(key) VALUES ('o'); INSERT INTO queue_message(body) VALUES (2), (3); INSERT INTO queue VALUES (1, 3)",
		"own-workflow: INSERT INTO instance VALUES (3)")
	if err := w.open["v1"].Ship(t.Context()); err != nil { // a cut has no workflows
		t.Fatal(err)
	}
	w.exec("v2", "database-shop: DELETE FROM orders") // the child's writes do not count
	return w
}

// want is what shop wrote.
const want = "cut v1: logs.log +1 ~0 -0, shop.orders +1 ~1 -0; keys +1 ~1 -1, objects +1 ~0 -0, messages +2 ~0 -0, instances +3 ~0 -0"

// text is a result on one line.
func text(u svc.Unmerged) string {
	var tables []string
	for _, x := range u.Tables {
		tables = append(tables, fmt.Sprintf("%s.%s %s", x.Database, x.Table, rows(x.Written)))
	}
	head := "cut " + u.Common
	if u.Reason != "" {
		head = string(u.Reason)
	}
	return fmt.Sprintf("%s: %s; keys %s, objects %s, messages %s, instances %s", head, strings.Join(tables, ", "),
		rows(u.Keys), rows(u.Objects), rows(u.Messages), rows(u.Instances))
}

func rows(w svc.Written) string {
	s := fmt.Sprintf("+%d ~%d -%d", w.Inserted, w.Updated, w.Deleted)
	if w.AtLeast {
		s += " at least"
	}
	return s
}

func check(t *testing.T, got svc.Unmerged, want string) {
	t.Helper()
	if text(got) != want {
		t.Errorf("got  %s\nwant %s", text(got), want)
	}
}

// TestChild: what production wrote since it was forked, from the worker host and from the
// object store.
func TestChild(t *testing.T) {
	t.Parallel()
	w := shop(t)
	before := time.Now().Add(-time.Hour)
	got := w.unmerged("v1", "v2")
	check(t, got, want)
	if got.At.Before(before) || got.At.After(time.Now()) {
		t.Errorf("forked at %v", got.At)
	}
	w.close("v1")
	check(t, w.unmerged("v1", "v2"), want)
}

// TestNothing: nothing was written since the fork.
func TestNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.version("v1", "")
	w.exec("v1", orders)
	w.version("v2", "v1")
	check(t, w.unmerged("v1", "v2"), "cut v1: ; keys +0 ~0 -0, objects +0 ~0 -0, messages +0 ~0 -0, instances +0 ~0 -0")
}

// TestGrandchild: a version that was forked from a child lacks what production wrote after
// the first fork; what the child wrote does not count.
func TestGrandchild(t *testing.T) {
	t.Parallel()
	w := shop(t)
	w.version("v3", "v2")
	check(t, w.unmerged("v1", "v3"), want)
}

// TestRollback: the target is the parent of production.
func TestRollback(t *testing.T) {
	t.Parallel()
	w := shop(t)
	w.exec("v2", "database-shop: INSERT INTO orders VALUES (5000, 'new')")
	check(t, w.unmerged("v2", "v1"),
		"cut v1: shop.orders +1 ~0 -3000; keys +0 ~0 -0, objects +0 ~0 -0, messages +0 ~0 -0, instances +0 ~0 -0")
}

// TestSiblings: of two forks of one version the earlier one is where they differ.
func TestSiblings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.version("v1", "")
	w.exec("v1", orders)
	w.version("early", "v1")
	w.exec("v1", "database-shop: INSERT INTO orders(what) VALUES ('between')", "database-new: CREATE TABLE n(x); INSERT INTO n VALUES (1)")
	w.version("late", "v1")
	w.exec("early", "database-shop: INSERT INTO orders(what) VALUES ('early'), ('early')")
	w.exec("late", "database-shop: UPDATE orders SET what = 'late' WHERE id = 1")
	const none = "; keys +0 ~0 -0, objects +0 ~0 -0, messages +0 ~0 -0, instances +0 ~0 -0"
	check(t, w.unmerged("early", "late"), "cut v1: shop.orders +2 ~0 -0"+none)
	check(t, w.unmerged("late", "early"), "cut v1: new.n +1 ~0 -0, shop.orders +1 ~1 -0"+none)
}

// TestCompare: both directions, whichever version is the parent.
func TestCompare(t *testing.T) {
	t.Parallel()
	w := shop(t)
	const child = "cut v1: shop.orders +0 ~0 -3000; keys +0 ~0 -0, objects +0 ~0 -0, messages +0 ~0 -0, instances +0 ~0 -0"
	ofChild, ofParent, err := w.service().Compare(t.Context(), ref("v2"), ref("v1"))
	if err != nil {
		t.Fatal(err)
	}
	check(t, ofChild, child)
	check(t, ofParent, want)
	if _, _, err := w.service().Compare(t.Context(), ref("v1"), ref("v9")); !errors.Is(err, svc.NotFound) {
		t.Errorf("an unknown version: %v", err)
	}
}

// TestRelease: a released version counts the instances that it has inherited as its own only to
// versions that have not got them.
func TestRelease(t *testing.T) {
	t.Parallel()
	w := shop(t) // 3 instances
	w.release("v3", "v1")
	instances := func(production, target, want string) {
		t.Helper()
		if got := rows(w.unmerged(production, target).Instances); got != want {
			t.Errorf("instances of %s that %s lacks: %s, want %s", production, target, got, want)
		}
	}
	instances("v3", "v1", "+0 ~0 -0")
	instances("v1", "v3", "+0 ~0 -0")
	instances("v3", "v2", "+3 ~0 -0")
	w.exec("v3", "own-workflow: INSERT INTO instance VALUES (4), (5); DELETE FROM instance WHERE id = 1")
	w.exec("v1", "own-workflow: INSERT INTO instance VALUES (4)")
	ship := func(version string) {
		if err := w.open[version].Ship(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	ship("v1")
	ship("v3")
	w.version("child", "v3")
	w.exec("child", "own-workflow: CREATE TABLE instance(id INTEGER PRIMARY KEY); INSERT INTO instance VALUES (9)")
	w.release("v4", "v3")
	ship("child")
	instances("v3", "v1", "+2 ~0 -1")
	instances("v4", "v1", "+2 ~0 -1")
	instances("v1", "v4", "+1 ~0 -0")
	instances("v3", "child", "+4 ~0 -0")
	instances("v1", "child", "+4 ~0 -0")
	instances("child", "v1", "+1 ~0 -0")
}

// TestNoCut: without a common cut the result says why.
func TestNoCut(t *testing.T) {
	t.Parallel()
	const nothing = ": ; keys +0 ~0 -0, objects +0 ~0 -0, messages +0 ~0 -0, instances +3 ~0 -0"
	w := shop(t)
	w.version("root", "")
	check(t, w.unmerged("v1", "root"), "unrelated"+nothing)
	orphan := w.versions["v2"]
	orphan.Ref = ref("orphan") // its manifest is gone
	w.versions["orphan"] = orphan
	check(t, w.unmerged("v1", "orphan"), "lost"+nothing)
	w.cutErr = errors.New("the host does not answer")
	check(t, w.unmerged("v1", "v2"), "unavailable"+nothing)
}

// TestPlan: the plan of a promote, of production itself, and of the first version.
func TestPlan(t *testing.T) {
	t.Parallel()
	w := shop(t)
	plan := func(production, version string) svc.PromotionPlan {
		w.production = production
		p, err := w.service().Plan(t.Context(), ref(version))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := plan("v1", "v2")
	check(t, *p.Unmerged, want)
	if p.Production != "v1" || p.Status != svc.StatusReady || *p.Waiting != (svc.Waiting{Messages: 3}) {
		t.Errorf("plan %+v", p)
	}
	if p := plan("v2", "v2"); p.Left != (svc.Left{}) || p.Production != "v2" {
		t.Errorf("plan of production %+v", p)
	}
	if p := plan("", "v2"); p.Left != (svc.Left{}) {
		t.Errorf("plan of the first version %+v", p)
	}
	if _, err := w.service().Plan(t.Context(), ref("v9")); !errors.Is(err, svc.NotFound) {
		t.Errorf("an unknown version: %v", err)
	}
}

// TestBounds: past a bound the counts are lower bounds.
func TestBounds(t *testing.T) {
	t.Parallel()
	w := shop(t)
	w.exec("v1", "database-shop: UPDATE orders SET what = 'all'")
	got := w.unmerged("v1", "v2", func(d *divergence.Deps) { d.Pages = 40 })
	i := slices.IndexFunc(got.Tables, func(x svc.UnmergedTable) bool { return x.Table == "orders" })
	if i < 0 || !got.Tables[i].AtLeast || got.Tables[i].Updated >= 3000 {
		t.Errorf("got %s", text(got))
	}
	got = w.unmerged("v1", "v2", func(d *divergence.Deps) { d.Time = time.Nanosecond })
	if !got.Instances.AtLeast || got.Reason == "" && !got.Keys.AtLeast {
		t.Errorf("without time: %s", text(got))
	}
}

// TestCost: a change of one row of a large database reads few pages.
func TestCost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.version("v1", "")
	w.exec("v1", strings.Replace(orders, "3000", "60000", 1))
	w.version("v2", "v1")
	w.exec("v1", "database-shop: UPDATE orders SET what = 'one' WHERE id = 30000")
	got := w.unmerged("v1", "v2", func(d *divergence.Deps) { d.Pages = 40 })
	check(t, got, "cut v1: shop.orders +0 ~1 -0; keys +0 ~0 -0, objects +0 ~0 -0, messages +0 ~0 -0, instances +0 ~0 -0")
}
