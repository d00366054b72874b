package dataplane_test

import (
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/dataplane"
	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/svc"
)

func leasedSync(c *dataplane.Config) { c.Lease, c.Sync = 15*time.Second, true }

func readError(t *testing.T, db volume.Database) error {
	t.Helper()
	return db.Read(t.Context(), func(c *raw.Conn) error { return c.Exec("SELECT 1") })
}

// TestStaleReads: in sync mode an owner that alone is cut off from the object store, with its node,
// answers no read after another node has acknowledged a write.
func TestStaleReads(t *testing.T) {
	bubble(t, func(t *testing.T) {
		bucket := new(memstore.Bucket)
		way := &gatedBucket{Bucket: bucket}
		first := own(t, way, "first", t.TempDir(), leasedSync)
		node := config(t, way, "-")
		lease, err := node.Branches.Hold(t.Context(), svc.Owner{Node: "first", Session: "first"})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = lease.Stop(t.Context()) }()
		db := database(t, first.Volumes, "a")
		exec(t, db, "CREATE TABLE t(x)")
		for range 7 { // the process looks at its record, the node renews its lease
			number(t, db, "SELECT count(*) FROM t")
			pass(time.Second)
		}
		way.setAway(true)
		acknowledged := make(chan time.Time, 1)
		second := own(t, bucket, "second", t.TempDir(), leasedSync)
		go func() {
			exec(t, database(t, second.Volumes, "a"), "INSERT INTO t VALUES (2)")
			acknowledged <- time.Now()
		}()
		var answered time.Time
		for range 400 {
			switch err := readError(t, db); {
			case err == nil:
				answered = time.Now()
			case svc.CodeOf(err) != "data_unconfirmed":
				t.Fatal(err)
			}
			pass(100 * time.Millisecond)
		}
		if at := <-acknowledged; !answered.Before(at) {
			t.Errorf("it answered %v after the other node had acknowledged a write", answered.Sub(at))
		}
		way.setAway(false)
		pass(2 * time.Second)
		_ = readError(t, db)
		first.fenced(t, "a")
	})
}

// TestReaderWhileAwaySync: in sync mode reads end when the object store has been away for two thirds of
// the lease, and come back by themselves with the store.
func TestReaderWhileAwaySync(t *testing.T) {
	bubble(t, func(t *testing.T) {
		way := &gatedBucket{Bucket: new(memstore.Bucket)}
		first := own(t, way, "first", t.TempDir(), leasedSync)
		db := database(t, first.Volumes, "a")
		exec(t, db, "CREATE TABLE t(x)")
		pass(time.Hour) // an unused process confirms its ownership with the next call
		if err := readError(t, db); err != nil {
			t.Errorf("after an hour: %v", err)
		}
		way.setAway(true)
		for i := range 60 {
			err := readError(t, db)
			if i < 5 && err != nil || i > 10 && svc.CodeOf(err) != "data_unconfirmed" {
				t.Errorf("%d s after the store was away: %v", i, err)
			}
			if i > 10 && svc.CodeOf(insert(t, db, 1)) != "data_unconfirmed" {
				t.Error("a write is tried without a confirmation")
			}
			pass(time.Second)
		}
		way.setAway(false)
		pass(1100 * time.Millisecond)
		number(t, db, "SELECT count(*) FROM t")
		exec(t, db, "INSERT INTO t VALUES (2)")
		if first.revoked.Load() > 0 {
			t.Errorf("revoked: %v", first.code.Load())
		}
	})
}
