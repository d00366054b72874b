package dataplane

import (
	"errors"
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

// TestFailedSyncIsFinal: after one failure no sync succeeds, because the kernel may have dropped what it
// could not write.
func TestFailedSyncIsFinal(t *testing.T) {
	t.Parallel()
	calls := 0
	d := disk{path: filepath.Join(t.TempDir(), "wal"), syncFile: func(*os.File) error {
		if calls++; calls == 1 {
			return errors.New("input/output error")
		}
		return nil
	}}
	if err := os.WriteFile(d.path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		if err := d.sync(); err == nil {
			t.Errorf("sync %d succeeded after a failure", i)
		}
	}
	if err := d.close(); err != nil || calls != 1 {
		t.Errorf("%d syncs; %v", calls, err)
	}
}

func (d *disk) waiting() *flush {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.next
}
