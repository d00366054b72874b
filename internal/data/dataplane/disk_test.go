package dataplane

import (
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

// TestFlushIsShared: callers that wait for a flush that has not begun share one, and a failure reaches
// all of them.
func TestFlushIsShared(t *testing.T) {
	t.Parallel()
	d := disk{path: filepath.Join(t.TempDir(), "wal"), syncFile: syncFile}
	if err := d.sync(); err == nil {
		t.Error("a missing WAL was synced")
	}
	if err := os.WriteFile(d.path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.syncing.Lock() // a slow flush
	var all sync.WaitGroup
	all.Go(func() {
		if err := d.sync(); err != nil {
			t.Error(err)
		}
	})
	for d.waiting() == nil { // until it leads the next one
		runtime.Gosched()
	}
	shared := d.waiting()
	for range 7 {
		all.Go(func() {
			if err := d.sync(); err != nil {
				t.Error(err)
			}
		})
	}
	if d.waiting() != shared {
		t.Error("a second flush began while the first had not")
	}
	d.syncing.Unlock()
	all.Wait()
	if err := d.close(); err != nil || d.close() != nil {
		t.Error(err)
	}
}

func (d *disk) waiting() *flush {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.next
}
