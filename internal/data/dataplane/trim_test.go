package dataplane_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

const (
	keptWAL    = 16 << 20
	insertMuch = `WITH n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 40) INSERT INTO t SELECT randomblob(1000000) FROM n`
)

// TestRollbackTruncatesWAL: a transaction that is rolled back leaves no long WAL.
func TestRollbackTruncatesWAL(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := database(t, open(t, dir), "a")
	exec(t, db, "CREATE TABLE t(x); INSERT INTO t VALUES (1)")
	var long int64
	undo := errors.New("undo")
	err := db.Write(t.Context(), func(c *raw.Conn) error {
		return c.InTx("BEGIN IMMEDIATE", func() error {
			if err := c.Script(insertMuch); err != nil {
				return err
			}
			long = walSize(t, dir)
			return undo
		})
	})
	if !errors.Is(err, undo) || long <= keptWAL {
		t.Fatalf("the WAL has %d bytes before the rollback, %v", long, err)
	}
	svctest.Eventually(t, "the WAL to be truncated", func() bool { return walSize(t, dir) <= keptWAL })
	exec(t, db, "INSERT INTO t VALUES (2)")
	if n := number(t, db, "SELECT sum(x) FROM t"); n != 3 {
		t.Errorf("the sum of the rows is %d", n)
	}
}

// TestTrimDoesNotWaitForReaders: a reader that uses the WAL delays its truncation, and no writer.
func TestTrimDoesNotWaitForReaders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := database(t, open(t, dir), "a")
	exec(t, db, "CREATE TABLE t(x); INSERT INTO t VALUES (zeroblob(10))")
	reads, stop := make(chan struct{}), make(chan struct{})
	done := make(chan error, 1)
	go func() {
		done <- db.Read(t.Context(), func(c *raw.Conn) error {
			return c.InTx("BEGIN", func() error {
				err := c.Exec("SELECT * FROM t")
				close(reads)
				<-stop
				return err
			})
		})
	}()
	<-reads
	exec(t, db, insertMuch)
	exec(t, db, "INSERT INTO t VALUES (zeroblob(10))")
	if n := walSize(t, dir); n <= keptWAL {
		t.Errorf("the WAL has %d bytes while a reader uses it", n)
	}
	close(stop)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	svctest.Eventually(t, "the WAL to be truncated", func() bool { return walSize(t, dir) <= keptWAL })
	if n := number(t, db, "SELECT count(*) FROM t"); n != 42 {
		t.Errorf("%d rows", n)
	}
}

func walSize(t *testing.T, dir string) int64 {
	t.Helper()
	info, err := os.Stat(filepath.Join(dir, "db", "a.sqlite-wal"))
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}
