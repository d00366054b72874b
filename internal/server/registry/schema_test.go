package registry_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/sqlite"
	"github.com/svcctl/svcctl/internal/server/registry"
	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// raw opens the registry's file without the registry.
func raw(t *testing.T, path string) *sqlite.DB {
	t.Helper()
	file, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	})
	return file
}

// TestSchema compares the result of all migrations with schema.golden.sql.
func TestSchema(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "registry.db")
	registrytest.OpenAt(t, path)
	rows, err := raw(t, path).Read().QueryContext(t.Context(),
		`SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY tbl_name, type DESC, name`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var b strings.Builder
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			t.Fatal(err)
		}
		b.WriteString(s + ";\n\n")
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	svctest.Golden(t, "schema.golden.sql", b.String())
}

// TestFormatsOfTheGuide: the table of formats names the schema and the bundles of this program.
func TestFormatsOfTheGuide(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/guide/backup.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("| %d | 1 | %d |", registry.SchemaVersion(), bundle.SchemaVersion); !strings.Contains(string(text), want) {
		t.Errorf("docs/guide/backup.md has no row %q", want)
	}
}

// TestCheckSchema: which copies of registries this program opens.
func TestCheckSchema(t *testing.T) {
	t.Parallel()
	newest := registry.SchemaVersion()
	for schema, code := range map[int]string{0: svc.CodeFormatOlder, 19: svc.CodeFormatOlder, 20: "", newest: "", newest + 1: svc.CodeFormatNewer} {
		if err := registry.CheckSchema(schema); svc.CodeOf(err) != code {
			t.Errorf("schema %d: %v", schema, err)
		}
	}
}

func TestOpenErrors(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		before string
		want   error
	}{
		"a newer registry":     {"PRAGMA user_version=9999; PRAGMA application_id=0x73766352", sqlite.ErrNewer},
		"schema 19 in the WAL": {"PRAGMA user_version=19; PRAGMA application_id=0x73766352", sqlite.ErrOlder},
		"another database":     {"CREATE TABLE diary (day TEXT)", sqlite.ErrForeign},
	} {
		path := filepath.Join(t.TempDir(), "registry.db")
		if err := raw(t, path).InTx(t.Context(), func(tx *sql.Tx) error {
			_, err := tx.ExecContext(t.Context(), tc.before)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		db, err := registry.Open(t.Context(), path)
		if !errors.Is(err, tc.want) {
			t.Errorf("%s: err = %v, want %v", name, err, tc.want)
		}
		if err == nil {
			_ = db.Close()
		}
	}
}

func TestPing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "registry.db")
	db, err := registry.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := db.Ping(t.Context()); err == nil {
		t.Error("Ping of a closed registry succeeds")
	}
}
