package dataplane_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/superfly/ltx"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/cowvfs"
	"github.com/svcctl/svcctl/internal/data/dataplane"
	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/replica"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// keepAll is longer than any test.
var keepAll = branch.History{Seconds: 24 * time.Hour, Minutes: 24 * time.Hour, Hours: 24 * time.Hour}

// must returns v; tests of the past have many calls that cannot fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// withHistory opens a version that makes points, whose window is longer than the test.
func withHistory(t *testing.T, bucket objstore.Bucket, change func(*dataplane.Config)) (*dataplane.Volumes, dataplane.Config) {
	t.Helper()
	c := config(t, bucket, t.TempDir())
	c.History, c.Window = true, time.Hour
	if change != nil {
		change(&c)
	}
	return must(dataplane.Open(t.Context(), c)), c
}

// pointOf ships everything, and returns the point that has x as the newest row of both tables.
func pointOf(t *testing.T, v *dataplane.Volumes, c dataplane.Config, x int) (p dataplane.Point) {
	t.Helper()
	if err := v.Ship(t.Context()); err != nil {
		t.Fatal(err)
	}
	svctest.Eventually(t, fmt.Sprintf("a point with %d", x), func() bool {
		past := must(dataplane.OpenPast(t.Context(), c, keepAll))
		points := past.Points()
		if len(points) == 0 {
			return false
		}
		p = points[len(points)-1]
		a, b := rowsAt(t, past, c.Bucket, p.Time())
		return a == int64(x) && b == int64(x)
	})
	return p
}

// rowsAt returns the newest row of both tables at a moment.
func rowsAt(t *testing.T, past *dataplane.Past, bucket objstore.Bucket, at time.Time) (a, b int64) {
	t.Helper()
	cut := must(past.Cut(t.Context(), at, keepAll))
	return numberAt(t, bucket, cut.Databases, "database-main", newest), numberAt(t, bucket, cut.Databases, "sys", newest)
}

// numberAt runs a query on a database of a cut, 0 for one that is not in it.
func numberAt(t *testing.T, bucket objstore.Bucket, cuts map[string]branch.Cut, name, query string) (n int64) {
	t.Helper()
	cut, ok := cuts[name]
	if !ok {
		return 0
	}
	src := must(replica.NewSource(t.Context(), bucket, must(branch.Plan(cut.Files, cut.TXID))))
	path := filepath.Join(t.TempDir(), "restored")
	if err := src.Restore(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	c := must(raw.Open(path, raw.Options{}))
	err := c.Query(query, nil, func(s *raw.Stmt) error { n = s.Int64(0); return nil })
	if err = errors.Join(err, c.Close(), cowvfs.Remove(path)); err != nil {
		t.Fatal(err)
	}
	return n
}

const newest = "SELECT max(x) FROM t"

// twoTables opens two databases with a table each.
func twoTables(t *testing.T, v *dataplane.Volumes) (set func(i int)) {
	t.Helper()
	a, b := database(t, v, "database-main"), database(t, v, "sys")
	exec(t, a, "CREATE TABLE IF NOT EXISTS t(x)")
	exec(t, b, "CREATE TABLE IF NOT EXISTS t(x)")
	return func(i int) {
		exec(t, a, fmt.Sprintf("INSERT INTO t VALUES (%d)", i))
		exec(t, b, fmt.Sprintf("INSERT INTO t VALUES (%d)", i))
	}
}

// TestPoint: each point has all databases as they were at one moment.
func TestPoint(t *testing.T) {
	t.Parallel()
	bucket := new(memstore.Bucket)
	v, c := withHistory(t, bucket, nil)
	set := twoTables(t, v)
	var points []dataplane.Point
	for i := range 5 {
		set(i)
		points = append(points, pointOf(t, v, c, i))
	}
	closed(t, v)
	past := must(dataplane.OpenPast(t.Context(), c, keepAll))
	if past.Hidden() != 0 {
		t.Errorf("%d points are hidden", past.Hidden())
	}
	for i, p := range points {
		if a, b := rowsAt(t, past, bucket, p.Time()); a != int64(i) || b != int64(i) {
			t.Errorf("point %d of %v has %d and %d", i, p.Time(), a, b)
		}
	}
	if _, err := past.Cut(t.Context(), past.Points()[0].Time().Add(-time.Minute), keepAll); !errors.Is(err, dataplane.ErrNoHistory) {
		t.Errorf("before the first point: %v", err)
	}
}

// TestPointIncomplete: a point is not offered when the log of one database lost its last transaction with a
// machine, also after the next owner has put another one into its place.
func TestPointIncomplete(t *testing.T) {
	t.Parallel()
	bucket := new(memstore.Bucket)
	v, c := withHistory(t, bucket, nil)
	set := twoTables(t, v)
	var last dataplane.Point
	for i := 0; i < 3 || !isNewest(t, bucket, "database-main", last) || !isNewest(t, bucket, "sys", last); i++ {
		set(i) // until one point has both
		last = pointOf(t, v, c, i)
	}
	closed(t, v)
	if err := bucket.Delete(t.Context(), newestOf(t, bucket, "sys")); err != nil {
		t.Fatal(err)
	}
	check := func(when string) {
		past := must(dataplane.OpenPast(t.Context(), c, keepAll))
		if slices.Contains(past.Points(), last) || past.Hidden() != 1 {
			t.Errorf("%s: the points are %v, %d hidden; the lost one is %v", when, past.Points(), past.Hidden(), last)
		}
	}
	check("after the loss")
	// The next machine's time is an hour behind, so what it writes seems to be older than the lost point.
	v, c = withHistory(t, bucket, func(c *dataplane.Config) {
		c.Owner.Node, c.Owner.Session = "h2", "s2"
		c.Branches = must(branch.New(branch.Config{Data: bucket, LeaseTTL: 10 * time.Millisecond, Logger: c.Logger}))
		c.Now = func() time.Time { return time.Now().Add(-time.Hour) }
	})
	exec(t, database(t, v, "sys"), "INSERT INTO t VALUES (7)")
	exec(t, database(t, v, "database-main"), "INSERT INTO t VALUES (7)")
	pointOf(t, v, c, 7)
	closed(t, v)
	check("after the takeover")
}

// newestOf is the key of the newest transaction of a database.
func newestOf(t *testing.T, bucket objstore.Bucket, name string) string {
	t.Helper()
	logs := must(objstore.ListAll(t.Context(), bucket, "p/v1/db/"+name+"/ltx/0000/"))
	return logs[len(logs)-1].Key
}

// isNewest reports whether the newest transaction of a database ends at a point.
func isNewest(t *testing.T, bucket objstore.Bucket, name string, p dataplane.Point) bool {
	t.Helper()
	head, _, err := objstore.Read(t.Context(), bucket, newestOf(t, bucket, name), 0, ltx.HeaderSize)
	var hdr ltx.Header
	if err = errors.Join(err, hdr.UnmarshalBinary(head)); err != nil {
		t.Fatal(err)
	}
	return hdr.Timestamp == p.Time().UnixMilli()
}

// TestPointOfLongWrite: while a long write holds the gate, segments are shipped without a point, and a point
// follows without another write.
func TestPointOfLongWrite(t *testing.T) {
	t.Parallel()
	bucket := new(memstore.Bucket)
	v, c := withHistory(t, bucket, func(c *dataplane.Config) { c.Window = 20 * time.Millisecond })
	set := twoTables(t, v)
	set(1)
	svctest.Eventually(t, "a point", func() bool { return v.Points().Made > 0 })
	sys := database(t, v, "sys")
	began, end := make(chan struct{}), make(chan struct{})
	done := make(chan error)
	go func() {
		done <- sys.Write(t.Context(), func(*raw.Conn) error { close(began); <-end; return nil })
	}()
	<-began
	made := v.Points().Made
	exec(t, database(t, v, "database-main"), "INSERT INTO t VALUES (2)")
	if err := database(t, v, "database-main").Ship(t.Context()); err != nil {
		t.Fatal(err)
	}
	if v.Points().Made != made {
		t.Error("a point was made during a write")
	}
	close(end)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	svctest.Eventually(t, "a point", func() bool {
		past := must(dataplane.OpenPast(t.Context(), c, keepAll))
		cut := must(past.Cut(t.Context(), time.Now(), keepAll))
		return numberAt(t, bucket, cut.Databases, "database-main", newest) == 2
	})
	closed(t, v)
}

// TestPointSync: in sync mode a point follows a write, too.
func TestPointSync(t *testing.T) {
	t.Parallel()
	bucket := new(memstore.Bucket)
	v, c := withHistory(t, bucket, func(c *dataplane.Config) { c.Sync, c.Window = true, 20*time.Millisecond })
	set := twoTables(t, v)
	set(1)
	svctest.Eventually(t, "a point", func() bool {
		past := must(dataplane.OpenPast(t.Context(), c, keepAll))
		cut, err := past.Cut(t.Context(), time.Now(), keepAll)
		return err == nil && numberAt(t, bucket, cut.Databases, "sys", newest) == 1
	})
	closed(t, v)
}

// TestPointNeedsAll: a point has every database of the version, also those that nothing has opened.
func TestPointNeedsAll(t *testing.T) {
	t.Parallel()
	bucket := new(memstore.Bucket)
	v, c := withHistory(t, bucket, nil)
	set := twoTables(t, v)
	set(1)
	pointOf(t, v, c, 1)
	closed(t, v)
	v, c = withHistory(t, bucket, func(c *dataplane.Config) { c.Window = 20 * time.Millisecond })
	exec(t, database(t, v, "database-main"), "INSERT INTO t VALUES (2)")
	svctest.Eventually(t, "a point", func() bool { return v.Points().Made > 0 })
	closed(t, v)
	past := must(dataplane.OpenPast(t.Context(), c, keepAll))
	if a, b := rowsAt(t, past, bucket, time.Now()); a != 2 || b != 1 || past.Hidden() != 0 {
		t.Errorf("the newest point has %d and %d, and %d are hidden", a, b, past.Hidden())
	}
}

// TestPointsOfCuts: a fork is a point of its parent.
func TestPointsOfCuts(t *testing.T) {
	t.Parallel()
	bucket := new(memstore.Bucket)
	v, c := withHistory(t, bucket, nil)
	set := twoTables(t, v)
	set(0)
	pointOf(t, v, c, 0)
	set(1)
	cuts := cutOf(t, v)
	set(2)
	pointOf(t, v, c, 2)
	closed(t, v)
	past := must(dataplane.OpenPast(t.Context(), c, keepAll))
	found := false
	for _, p := range past.Points() {
		cut := must(past.Cut(t.Context(), p.Time(), keepAll)).Databases
		found = found || cut["sys"].TXID == cuts["sys"].TXID && cut["database-main"].TXID == cuts["database-main"].TXID
	}
	if !found {
		t.Errorf("no point of %v is the cut", past.Points())
	}
}

// TestNoHistory: without history nothing of it is in the store, and no header has a place.
func TestNoHistory(t *testing.T) {
	t.Parallel()
	bucket := new(memstore.Bucket)
	v, c := withHistory(t, bucket, func(c *dataplane.Config) { c.History, c.CompactAfter, c.CompactFiles = false, 4, 2 })
	set := twoTables(t, v)
	for i := range 20 {
		set(i)
		if err := v.Ship(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	closed(t, v)
	past := must(dataplane.OpenPast(t.Context(), c, keepAll))
	if len(past.Points()) != 0 || past.Hidden() != 0 || len(histOf(t, bucket)) != 0 {
		t.Errorf("%d points, %d hidden, objects %v", len(past.Points()), past.Hidden(), histOf(t, bucket))
	}
}

// histOf are the history objects in the store.
func histOf(t *testing.T, bucket objstore.Bucket) (list []branch.Hist) {
	t.Helper()
	for _, info := range must(objstore.ListAll(t.Context(), bucket, "p/")) {
		if h, ok := branch.ParseHist(info.Key); ok {
			list = append(list, h)
		}
	}
	return list
}
