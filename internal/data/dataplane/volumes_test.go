package dataplane_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/dataplane"
	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/svc"
)

func open(t *testing.T, dir string) *dataplane.Volumes {
	t.Helper()
	return openOn(t, new(memstore.Bucket), dir)
}

func openOn(t *testing.T, bucket objstore.Bucket, dir string) *dataplane.Volumes {
	t.Helper()
	v, err := dataplane.Open(t.Context(), config(t, bucket, dir))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := v.Close(); err != nil {
			t.Error(err)
		}
	})
	return v
}

func config(t *testing.T, bucket objstore.Bucket, dir string) dataplane.Config {
	t.Helper()
	logger := slog.New(slog.NewTextHandler(t.Output(), nil))
	branches, err := branch.New(branch.Config{Data: bucket, Logger: logger})
	if err != nil {
		t.Fatal(err)
	}
	return dataplane.Config{
		Ref: svc.Ref{Project: "p", Version: "v1"}, Dir: dir, Bucket: bucket, Branches: branches,
		Owner: svc.Owner{Node: "h", Session: "s"}, Window: 20 * time.Millisecond, Logger: logger,
	}
}

func database(t *testing.T, v *dataplane.Volumes, name string) volume.Database {
	t.Helper()
	db, err := v.Database(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func exec(t *testing.T, db volume.Database, text string) {
	t.Helper()
	if err := db.Write(t.Context(), func(c *raw.Conn) error { return c.Script(text) }); err != nil {
		t.Fatal(err)
	}
}

func number(t *testing.T, db volume.Database, text string) (n int64) {
	t.Helper()
	err := db.Read(t.Context(), func(c *raw.Conn) error {
		return c.Query(text, nil, func(s *raw.Stmt) error {
			n = s.Int64(0)
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestStores(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v := open(t, filepath.Join(dir, "data"))
	a := database(t, v, "a")
	exec(t, a, "CREATE TABLE t(x); INSERT INTO t VALUES (1), (2)")
	if database(t, v, "a") != a {
		t.Error("one name opens two databases")
	}
	if n := number(t, database(t, v, "b"), "SELECT count(*) FROM sqlite_schema"); n != 0 {
		t.Errorf("another database has %d tables", n)
	}
	for text, want := range map[string]int64{"PRAGMA synchronous": 1, "PRAGMA foreign_keys": 1} { // 1 is NORMAL: the database syncs itself
		err := a.Write(t.Context(), func(c *raw.Conn) error {
			return c.Query(text, nil, func(s *raw.Stmt) error {
				if got := s.Int64(0); got != want {
					t.Errorf("%s: %d, want %d", text, got, want)
				}
				return nil
			})
		})
		if err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"", "..", "a/b", "a\x00", ".hidden", strings.Repeat("x", 300)} {
		if _, err := v.Database(t.Context(), name); err == nil {
			t.Errorf("%q names a database", name)
		}
	}
}

// TestClose: closing merges the WALs: each database is one plain file, beside its position in the log.
func TestClose(t *testing.T) {
	t.Parallel()
	dir, bucket := t.TempDir(), new(memstore.Bucket)
	v := openOn(t, bucket, dir)
	db := database(t, v, "a")
	exec(t, db, "CREATE TABLE t(x); INSERT INTO t VALUES (7)")
	if n := number(t, db, "SELECT x FROM t"); n != 7 {
		t.Errorf("got %d", n)
	}
	if err := errors.Join(v.Close(), v.Close()); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(filepath.Join(dir, "db"))
	if err != nil || len(files) != 2 || files[0].Name() != "a.sqlite" || files[1].Name() != "a.sqlite-ltx" {
		t.Errorf("left: %v, %v", files, err)
	}
	nothing := func(*raw.Conn) error { return nil }
	if _, err := v.Database(t.Context(), "b"); err == nil {
		t.Error("closed volumes opened a database")
	}
	if db.Read(t.Context(), nothing) == nil || db.Write(t.Context(), nothing) == nil {
		t.Error("a closed database is used")
	}
	if n := number(t, database(t, openOn(t, bucket, dir), "a"), "SELECT x FROM t"); n != 7 {
		t.Errorf("reopened: got %d", n)
	}
}

func TestReadersCannotWrite(t *testing.T) {
	t.Parallel()
	db := database(t, open(t, t.TempDir()), "a")
	exec(t, db, "CREATE TABLE t(x)")
	err := db.Read(t.Context(), func(c *raw.Conn) error { return c.Exec("INSERT INTO t VALUES (1)") })
	var e *raw.Error
	if !errors.As(err, &e) || e.Code != raw.ReadOnly {
		t.Errorf("got %v", err)
	}
}

// TestConcurrent: with concurrent readers and writers every read sees complete transactions.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	db := database(t, open(t, t.TempDir()), "a")
	exec(t, db, "CREATE TABLE t(x)")
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			for range 15 {
				exec(t, db, "BEGIN IMMEDIATE; INSERT INTO t VALUES (1); INSERT INTO t VALUES (-1); COMMIT")
			}
		})
		all.Go(func() {
			for range 60 {
				if n := number(t, db, "SELECT sum(x) FROM t"); n != 0 {
					t.Errorf("a partial transaction is visible: %d", n)
				}
			}
		})
	}
	all.Wait()
	if n := number(t, db, "SELECT count(*) FROM t"); n != 180 {
		t.Errorf("%d rows, want 180", n)
	}
}

// TestContext: waiting for a connection and running a statement both end with the context.
func TestContext(t *testing.T) {
	t.Parallel()
	db := database(t, open(t, t.TempDir()), "a")
	const forever = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT count(*) FROM c"
	for name, use := range map[string]func(context.Context, func(*raw.Conn) error) error{"read": db.Read, "write": db.Write} {
		ctx, cancel := context.WithCancel(t.Context())
		started := make(chan struct{})
		var all sync.WaitGroup
		all.Go(func() {
			<-started
			if err := use(ctx, func(*raw.Conn) error { return nil }); name == "write" && !errors.Is(err, context.Canceled) {
				t.Errorf("waiting to %s: %v", name, err)
			}
		})
		err := use(ctx, func(c *raw.Conn) error {
			close(started)
			context.AfterFunc(ctx, func() {})
			go cancel()
			return c.Exec(forever)
		})
		all.Wait()
		var e *raw.Error
		if !errors.As(err, &e) || e.Code != raw.Interrupt {
			t.Errorf("%s: %v", name, err)
		}
		if err := use(t.Context(), func(c *raw.Conn) error { return c.Exec("SELECT 1") }); err != nil {
			t.Errorf("%s afterwards: %v", name, err)
		}
	}
}
