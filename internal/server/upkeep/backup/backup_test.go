package backup_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/sqlite"
	"github.com/svcctl/svcctl/internal/server/registry"
	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/server/upkeep/backup"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestMain(m *testing.M) { svctest.Main(m, nil) }

const key svc.Secret = "recovery-of-a-server-in-a-test"

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func snapshot(t testing.TB, db *sqlite.DB) []byte {
	t.Helper()
	data, err := db.Snapshot(t.Context())
	must(t, err)
	return data
}

func exec(t testing.TB, db *sqlite.DB, query string, args ...any) {
	t.Helper()
	must(t, db.InTx(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.ExecContext(t.Context(), query, args...)
		return err
	}))
}

// TestCopies: after random changes, restarts and new chains, Read returns the state of the
// last Append, as a database that SQLite accepts. Changes cost little.
func TestCopies(t *testing.T) {
	t.Parallel()
	b := &memstore.Bucket{}
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "a.db"), sqlite.Options{})
	must(t, err)
	defer db.Close()
	exec(t, db, "PRAGMA auto_vacuum = FULL") // so that it shrinks, too
	exec(t, db, "CREATE TABLE t (id INTEGER PRIMARY KEY, x BLOB)")
	exec(t, db, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 200) INSERT INTO t SELECT i, randomblob(900) FROM n")
	rng := rand.New(rand.NewPCG(1, 2))
	var l *backup.Log
	var full int64
	at := time.Now()
	for i := range 60 {
		if l == nil || rng.IntN(8) == 0 { // a restart
			l, err = backup.Open(t.Context(), b, "n1", key, false)
			must(t, err)
			at = at.Add(-time.Hour) // with a clock that was set back
		}
		switch rng.IntN(5) {
		case 0:
			exec(t, db, "DELETE FROM t WHERE id % 7 = ?", i%7)
		default:
			exec(t, db, "INSERT INTO t VALUES (NULL, randomblob(?))", rng.IntN(3000))
		}
		want := snapshot(t, db)
		n, err := l.Append(t.Context(), want, map[string][]byte{"secrets.json": []byte(fmt.Sprint(i / 10))}, at)
		must(t, err)
		if full == 0 {
			full = n
		}
		again, err := l.Append(t.Context(), want, map[string][]byte{"secrets.json": []byte(fmt.Sprint(i / 10))}, at)
		if err != nil || again != 0 {
			t.Errorf("nothing changed, and Append wrote %d bytes, %v", again, err)
		}
		got, err := backup.Read(t.Context(), b, "n1", key)
		must(t, err)
		if !bytes.Equal(got.Database, want) || string(got.Files["secrets.json"]) != fmt.Sprint(i/10) {
			t.Fatalf("copy %d differs", i)
		}
	}
	exec(t, db, "INSERT INTO t VALUES (NULL, 'small')")
	small, err := l.Append(t.Context(), snapshot(t, db), nil, at)
	if err != nil || small > full/5 {
		t.Errorf("a small change cost %d bytes, the full copy %d; %v", small, full, err)
	}
	got, err := backup.Read(t.Context(), b, "n1", key)
	must(t, err)
	accepted(t, got.Database, "SELECT count(*) FROM t WHERE x = 'small'")
}

// accepted checks that SQLite finds no error in a database, and what a query returns.
func accepted(t *testing.T, database []byte, query string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "restored.db")
	must(t, os.WriteFile(path, database, 0o600))
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	must(t, err)
	defer db.Close()
	var result string
	var n int
	must(t, db.Read().QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&result))
	must(t, db.Read().QueryRowContext(t.Context(), query).Scan(&n))
	if result != "ok" || n != 1 {
		t.Errorf("%s, %d rows", result, n)
	}
}

// TestNothingInTheOpen: no object shows what the registry has, a wrong key says so, and a
// newer format names both versions.
func TestNothingInTheOpen(t *testing.T) {
	t.Parallel()
	b := &memstore.Bucket{}
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "a.db"), sqlite.Options{})
	must(t, err)
	defer db.Close()
	exec(t, db, "CREATE TABLE t (x TEXT)")
	exec(t, db, "INSERT INTO t VALUES ('hunter2')")
	l, err := backup.Open(t.Context(), b, "n1", key, false)
	must(t, err)
	_, err = l.Append(t.Context(), snapshot(t, db), map[string][]byte{"secrets.json": []byte("admin-hunter2")}, time.Now())
	must(t, err)
	all, err := objstore.ListAll(t.Context(), b, "")
	must(t, err)
	for _, i := range all {
		data, _, err := objstore.Read(t.Context(), b, i.Key, 0, -1)
		must(t, err)
		if bytes.Contains(data, []byte("hunter2")) {
			t.Errorf("%s shows a secret", i.Key)
		}
		if _, err := backup.Read(t.Context(), b, "n1", key+"x"); svc.CodeOf(err) != svc.CodeRecoveryKeyWrong || strings.Contains(err.Error(), key.Reveal()) {
			t.Errorf("a wrong key: %v", err)
		}
		must(t, b.Delete(t.Context(), i.Key))
		newer := append([]byte("svcctl registry copy 2\n"), data...)
		_, err = b.Put(t.Context(), i.Key, bytes.NewReader(newer), int64(len(newer)), objstore.Condition{})
		must(t, err)
	}
	_, err = backup.Read(t.Context(), b, "n1", key)
	if svc.CodeOf(err) != svc.CodeFormatNewer || !strings.Contains(err.Error(), "format 2, this program knows 1") {
		t.Error(err)
	}
	if _, err := backup.Read(t.Context(), b, "n2", key); !errors.Is(err, backup.ErrNone) {
		t.Error(err)
	}
}

// TestService copies a real registry after each change, and continues after the object
// store failed.
func TestService(t *testing.T) {
	t.Parallel()
	b := &memstore.Bucket{}
	db := registrytest.Open(t, "first")
	c := backup.Config{Registry: db, Bucket: b, Node: "n1", Key: key, Window: time.Millisecond, Logger: slog.New(slog.DiscardHandler)}
	s := backup.Start(t.Context(), c)
	copied(t, b, "first")
	registrytest.AddProject(t, db, "second")
	copied(t, b, "second")
	registrytest.AddProject(t, db, "third")
	must(t, s.Stop(t.Context()))
	state, err := backup.Read(t.Context(), b, "n1", key)
	must(t, err)
	accepted(t, state.Database, "SELECT count(*) FROM projects WHERE id = 'third'")
	if behind, err := s.Behind(); behind != 0 || err != nil {
		t.Errorf("behind %s, %v", behind, err)
	}
	c.Bucket = down{b}
	s = backup.Start(t.Context(), c)
	svctest.Eventually(t, "the failure shows", func() bool { _, err := s.Behind(); return err != nil })
	if err := s.Check(0)(t.Context()); err == nil || !strings.Contains(err.Error(), "no route") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must(t, s.Stop(ctx))
}

var _ backup.Registry = (*registry.DB)(nil)

// copied waits until the copy has a project.
func copied(t *testing.T, b objstore.Bucket, project string) {
	t.Helper()
	svctest.Eventually(t, "the copy of "+project, func() bool {
		state, err := backup.Read(t.Context(), b, "n1", key)
		return err == nil && bytes.Contains(state.Database, []byte(project))
	})
}

// down is an object store that does not answer.
type down struct{ objstore.Bucket }

func (down) List(context.Context, string, string, int) ([]objstore.Info, error) {
	return nil, errors.New("no route")
}
