package dataplane_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/data/volume"
)

var (
	errReadOnly = errors.New("the project is read-only")
	errReleased = errors.New("another version has the data")
)

func insertAs(ctx context.Context, db volume.Database) error {
	return db.Write(ctx, func(c *raw.Conn) error { return c.Exec(`INSERT INTO t VALUES (1)`) })
}

// TestReadOnly: the writes of the worker fail, those of the platform and reads do not. It is
// independent of what a release refuses.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	v := open(t, t.TempDir())
	db := database(t, v, volume.SharedDatabase)
	exec(t, db, `CREATE TABLE t (n)`)
	worker := volume.ByWorker(t.Context())
	v.SetReadOnly(errReadOnly)
	if err := insertAs(worker, db); !errors.Is(err, errReadOnly) {
		t.Errorf("a write of the worker: %v", err)
	}
	if _, err := v.Blobs().Put(worker, strings.NewReader("x"), 1); !errors.Is(err, errReadOnly) {
		t.Errorf("a blob of the worker: %v", err)
	}
	for _, ctx := range []context.Context{t.Context(), volume.ByPlatform(worker)} {
		if err := insertAs(ctx, db); err != nil {
			t.Errorf("a write of the platform: %v", err)
		}
	}
	if n := number(t, db, `SELECT count(*) FROM t`); n != 2 {
		t.Errorf("%d rows, want 2", n)
	}
	v.SetReadOnly(nil)
	if err := insertAs(worker, db); err != nil {
		t.Errorf("a write when the project is writable again: %v", err)
	}
	sealed, err := v.Seal(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	v.SetReadOnly(errReadOnly)
	sealed.Refuse(errReleased)
	v.SetReadOnly(nil)
	for _, ctx := range []context.Context{worker, t.Context()} {
		if err := insertAs(ctx, db); !errors.Is(err, errReleased) {
			t.Errorf("a write after the release: %v", err)
		}
	}
}

// TestReadOnlyWaiting: a write that waits for a cut is refused when the project has become read-only.
func TestReadOnlyWaiting(t *testing.T) {
	bubble(t, func(t *testing.T) {
		v := open(t, t.TempDir())
		db := database(t, v, "a")
		exec(t, db, `CREATE TABLE t (n)`)
		sealed, err := v.Seal(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- insertAs(volume.ByWorker(t.Context()), db) }()
		synctest.Wait()
		v.SetReadOnly(errReadOnly)
		sealed.Open()
		if err := <-done; !errors.Is(err, errReadOnly) {
			t.Errorf("the write: %v", err)
		}
	})
}
