package sqlite_test

import (
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/svcctl/svcctl/internal/data/sqlite"
)

const appID = 0x1234

// schema makes a Schema of these files.
func schema(files ...string) sqlite.Schema {
	m := fstest.MapFS{}
	for i := 0; i < len(files); i += 2 {
		m[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	return sqlite.Schema{Name: "thing", ApplicationID: appID, Files: m}
}

const (
	init1 = "CREATE TABLE p (id INTEGER PRIMARY KEY, v TEXT); CREATE TABLE c (p INTEGER NOT NULL REFERENCES p (id)); INSERT INTO p VALUES (1, 'a'); INSERT INTO c VALUES (1)"
	// init2 rebuilds the table that c refers to, which is impossible with foreign keys on.
	init2 = "CREATE TABLE p2 (id INTEGER PRIMARY KEY, v TEXT NOT NULL); INSERT INTO p2 SELECT * FROM p; DROP TABLE p; ALTER TABLE p2 RENAME TO p"
)

func TestMigrate(t *testing.T) {
	t.Parallel()
	db := open(t, temp(t), sqlite.Options{})
	one, two := schema("0001_init.sql", init1), schema("0001_init.sql", init1, "0002_not_null.sql", init2)
	for i, s := range []sqlite.Schema{one, one, two, two} {
		if err := s.Migrate(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		if got, want := value[int](t, db, "PRAGMA user_version"), 1+i/2; got != want {
			t.Errorf("user_version = %d, want %d", got, want)
		}
	}
	if id := value[int](t, db, "PRAGMA application_id"); id != appID {
		t.Errorf("application_id = %#x", id)
	}
	if v := value[string](t, db, "SELECT v FROM c JOIN p ON p.id = c.p"); v != "a" {
		t.Errorf("v = %q", v)
	}
	if n := value[int](t, db, "SELECT \"notnull\" FROM pragma_table_info('p') WHERE name = 'v'"); n != 1 {
		t.Error("the second migration did not take effect")
	}
	assertForeignKeysOn(t, db)
}

// TestMigrateFrom: a new file gets all migrations from the first on, and one at the first the later ones.
func TestMigrateFrom(t *testing.T) {
	t.Parallel()
	files := []string{"0020_init.sql", init1, "0021_not_null.sql", init2}
	one, two := schema(files[:2]...), schema(files...)
	one.First, two.First = 20, 20
	for _, steps := range [][]sqlite.Schema{{two}, {one, two}} {
		path := temp(t)
		db := open(t, path, sqlite.Options{})
		for _, s := range steps {
			if err := s.Migrate(t.Context(), db); err != nil {
				t.Fatal(err)
			}
		}
		if got, n := value[int](t, db, "PRAGMA user_version"), value[int](t, db, "SELECT count(*) FROM c JOIN p ON p.id = c.p"); got != 21 || n != 1 {
			t.Errorf("user_version %d, %d rows", got, n)
		}
	}
}

// TestReadNumbers: the numbers of a file as its header has them.
func TestReadNumbers(t *testing.T) {
	t.Parallel()
	path := temp(t)
	if n, err := sqlite.ReadNumbers(path); err != nil || n != (sqlite.Numbers{}) {
		t.Errorf("a missing file: %+v, %v", n, err)
	}
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := schema("0020_init.sql", init1)
	s.First, s.ApplicationID = 20, -7
	if err := errors.Join(s.Migrate(t.Context(), db), db.Close()); err != nil {
		t.Fatal(err)
	}
	if n, err := sqlite.ReadNumbers(path); err != nil || n != (sqlite.Numbers{Version: 20, ApplicationID: -7}) {
		t.Errorf("%+v, %v", n, err)
	}
	if err := os.WriteFile(path, []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	if n, err := sqlite.ReadNumbers(path); err != nil || n != (sqlite.Numbers{}) {
		t.Errorf("a short file: %+v, %v", n, err)
	}
}

// assertForeignKeysOn checks that Migrate turned foreign keys on again.
func assertForeignKeysOn(t *testing.T, db *sqlite.DB) {
	t.Helper()
	if err := db.InTx(t.Context(), func(tx *sql.Tx) error {
		var on int
		err := tx.QueryRowContext(t.Context(), "PRAGMA foreign_keys").Scan(&on)
		if on != 1 {
			t.Errorf("foreign_keys = %d", on)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}

func TestMigrateRejects(t *testing.T) {
	t.Parallel()
	two := schema("0001_a.sql", "CREATE TABLE a (x)", "0002_b.sql", "CREATE TABLE b (x)")
	from2 := schema("0002_b.sql", "CREATE TABLE b (x)")
	from2.First = 2
	for name, tc := range map[string]struct {
		before string // statements on the file before Migrate
		s      sqlite.Schema
		want   error
		text   string
	}{
		"an older file":             {"PRAGMA user_version=1; PRAGMA application_id=4660; CREATE TABLE past (x)", from2, sqlite.ErrOlder, "version 1, this program knows 2 and later ones"},
		"a number before the first": {"", func() sqlite.Schema { s := two; s.First = 2; return s }(), nil, "want a name that begins with 0002_"},
		"a newer file":              {"PRAGMA user_version=3; PRAGMA application_id=4660; CREATE TABLE future (x)", two, sqlite.ErrNewer, "version 3, this program knows 2"},
		"another program's file":    {"PRAGMA application_id=7", two, sqlite.ErrForeign, "choose another path"},
		"another program's tables":  {"CREATE TABLE diary (x)", two, sqlite.ErrForeign, "application id 0"},
		"another program's version": {"PRAGMA user_version=1", two, sqlite.ErrForeign, "application id 0"},
		"a gap":                     {"", schema("0001_a.sql", "", "0003_c.sql", ""), nil, "want a name that begins with 0002_"},
		"a bad name":                {"", schema("1_a.sql", ""), nil, "want a name that begins with 0001_"},
		"a bad statement":           {"", schema("0001_a.sql", "CREATE TABLE x (y); NONSENSE"), nil, "0001_a.sql"},
		"rows without parents": {
			"", schema("0001_a.sql", "CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (p REFERENCES p (id)); INSERT INTO c VALUES (9)"),
			nil, "rows of c violate a foreign key",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := open(t, temp(t), sqlite.Options{})
			if tc.before != "" {
				exec(t, db, tc.before)
			}
			before := value[string](t, db, dump)
			err := tc.s.Migrate(t.Context(), db)
			if err == nil || tc.want != nil && !errors.Is(err, tc.want) || !strings.Contains(err.Error(), tc.text) {
				t.Errorf("err = %v, want %v with %q", err, tc.want, tc.text)
			}
			if after := value[string](t, db, dump); after != before {
				t.Errorf("the file changed from %s to %s", before, after)
			}
			assertForeignKeysOn(t, db)
		})
	}
}

// dump is a summary of everything that a migration can change.
const dump = `SELECT (SELECT user_version FROM pragma_user_version) || ' ' || (SELECT application_id FROM pragma_application_id)
	|| ' ' || coalesce((SELECT group_concat(name) FROM sqlite_schema), '')`

// TestMigrateStopsBetween: a bad second migration leaves the first in place.
func TestMigrateStopsBetween(t *testing.T) {
	t.Parallel()
	db := open(t, temp(t), sqlite.Options{})
	if err := schema("0001_a.sql", "CREATE TABLE a (x)", "0002_b.sql", "NONSENSE").Migrate(t.Context(), db); err == nil {
		t.Fatal("no error")
	}
	if got := value[string](t, db, dump); got != "1 4660 a" {
		t.Errorf("left: %s", got)
	}
	if err := schema("0001_a.sql", "", "0002_b.sql", "CREATE TABLE b (x)").Migrate(t.Context(), db); err != nil {
		t.Error(err)
	}
}

func TestMigrateConcurrently(t *testing.T) {
	t.Parallel()
	path := temp(t)
	s := schema("0001_a.sql", "CREATE TABLE a (x)", "0002_b.sql", "INSERT INTO a VALUES (1)")
	dbs := make([]*sqlite.DB, 4)
	for i := range dbs {
		dbs[i] = open(t, path, sqlite.Options{})
	}
	var wg sync.WaitGroup
	for _, db := range dbs {
		wg.Go(func() {
			if err := s.Migrate(t.Context(), db); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := value[int](t, dbs[0], "SELECT count(*) FROM a"); n != 1 {
		t.Errorf("the second migration ran %d times", n)
	}
}

// TestMigrateLeavesNoWAL: after Close the file alone is the whole database.
func TestMigrateLeavesNoWAL(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, err := sqlite.Open(t.Context(), filepath.Join(dir, "x.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(schema("0001_a.sql", init1).Migrate(t.Context(), db), db.Close()); err != nil {
		t.Fatal(err)
	}
	left := map[string]bool{}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		left[e.Name()] = true
	}
	if err != nil || !maps.Equal(left, map[string]bool{"x.db": true}) {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestMigrateKeepsCopies: before a migration the file is copied, and the last copies stay.
func TestMigrateKeepsCopies(t *testing.T) {
	t.Parallel()
	path := temp(t)
	db := open(t, path, sqlite.Options{})
	files := []string{"0001_init.sql", "CREATE TABLE a (x)"}
	for n := 2; n <= 7; n++ {
		s := schema(files...)
		s.Keep = 3
		if err := s.Migrate(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		if err := db.InTx(t.Context(), func(tx *sql.Tx) error {
			_, err := tx.ExecContext(t.Context(), "INSERT INTO a VALUES (?)", n)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		files = append(files, fmt.Sprintf("%04d_more.sql", n), fmt.Sprintf("CREATE TABLE t%d (x)", n))
	}
	kept, err := filepath.Glob(path + ".schema-*")
	if want := []string{path + ".schema-3", path + ".schema-4", path + ".schema-5"}; err != nil || !slices.Equal(kept, want) {
		t.Fatalf("kept %v, %v; want %v", kept, err, want)
	}
	info, err := os.Stat(kept[2])
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	before := open(t, kept[2], sqlite.Options{})
	if n, v := value[int](t, before, "SELECT count(*) FROM a"), value[int](t, before, "PRAGMA user_version"); n != 5 || v != 5 {
		t.Errorf("the copy has %d rows and version %d", n, v)
	}
	err = schema(files[:10]...).Migrate(t.Context(), db)
	if !errors.Is(err, sqlite.ErrNewer) || !strings.Contains(err.Error(), "version 6, this program knows 5") || !strings.Contains(err.Error(), "move "+kept[2]+" to "+path) {
		t.Error(err)
	}
}
