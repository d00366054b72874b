package dataplane_test

import (
	"errors"
	"os"
	"sync/atomic"
	"testing"

	"github.com/svcctl/svcctl/internal/data/dataplane"
	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/svc"
)

// TestAcknowledgedIsOnDisk: in async a write returns after a sync of all that it has written to the WAL.
// A power failure would show a missing sync; no process that dies alone does.
func TestAcknowledgedIsOnDisk(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var synced atomic.Int64 // bytes of the WAL
		dir := t.TempDir()
		v := openWith(t, new(memstore.Bucket), dir, func(c *dataplane.Config) {
			c.SyncFile = func(f *os.File) error {
				info, err := f.Stat()
				if err == nil {
					synced.Store(info.Size())
				}
				return err
			}
		})
		db := database(t, v, "a")
		exec(t, db, "CREATE TABLE t(x)")
		for i := range 5 {
			must := func(err error) {
				if err != nil {
					t.Fatal(err)
				}
			}
			must(insert(t, db, i))
			info, err := os.Stat(fileIn(dir, "a") + "-wal")
			must(err)
			if synced.Load() != info.Size() {
				t.Fatalf("write %d was acknowledged when %d of %d bytes of the WAL had been synced", i, synced.Load(), info.Size())
			}
		}
	})
}

// TestSyncFails: a write whose sync fails is not acknowledged, and the process serves no more.
func TestSyncFails(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var fails atomic.Bool
		revoked := make(chan string, 1)
		v := openWith(t, new(memstore.Bucket), t.TempDir(), func(c *dataplane.Config) {
			c.SyncFile = func(*os.File) error {
				if fails.Load() {
					return errors.New("input/output error")
				}
				return nil
			}
			c.Revoked = func(err error) { revoked <- svc.CodeOf(err) }
		})
		db := database(t, v, "a")
		exec(t, db, "CREATE TABLE t(x)")
		fails.Store(true)
		if err := insert(t, db, 1); err == nil {
			t.Error("a write was acknowledged although its sync failed")
		}
		if code := <-revoked; code != "disk_failed" {
			t.Errorf("revoked with %s", code)
		}
		fails.Store(false)
		if err := insert(t, db, 2); svc.CodeOf(err) != "disk_failed" {
			t.Errorf("the next write: %v", err)
		}
	})
}
