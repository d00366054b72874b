package daemon

import (
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/data/sqlite"
	"github.com/svcctl/svcctl/internal/svc"
)

// TestOlderDataDir: the data directory of a program before 0.1.0 is refused in one sentence, with the
// way out, and no file of it changes.
func TestOlderDataDir(t *testing.T) {
	t.Parallel()
	for _, schema := range []int{1, 14, 19} {
		dir := t.TempDir()
		oldDataDir(t, dir, schema)
		before := filesOf(t, dir)
		_, err := Start(t.Context(), Config{Logger: slog.New(slog.DiscardHandler), Settings: &config.Daemon{
			DataDir: dir, RegistryDB: filepath.Join(dir, "registry.db"), WorkerConfine: svc.ConfineOff, AllowRoot: true,
		}})
		var refused *svc.Error
		if !errors.As(err, &refused) || refused.Code != svc.CodeFormatOlder || refused.Hint == "" {
			t.Fatalf("schema %d: %v", schema, err)
		}
		if want := fmt.Sprintf("schema version %d of a program before version 0.1.0", schema); !strings.Contains(refused.Detail, want) {
			t.Errorf("%q does not say %q", refused.Detail, want)
		}
		if diff := cmp.Diff(before, filesOf(t, dir)); diff != "" {
			t.Errorf("schema %d: the directory changed:\n%s", schema, diff)
		}
	}
}

func oldDataDir(t *testing.T, dir string, schema int) {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(dir, "registry.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = db.InTx(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.ExecContext(t.Context(), fmt.Sprintf("CREATE TABLE projects (id TEXT); PRAGMA application_id=0x73766352; PRAGMA user_version=%d", schema))
		return err
	})
	if err := errors.Join(err, db.Close(), os.WriteFile(filepath.Join(dir, "secrets.json"), []byte("{}"), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// filesOf is the content, the mode and the time of change of each file.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, e := range entries {
		info, err := e.Info()
		data, readErr := os.ReadFile(filepath.Join(dir, e.Name()))
		if err := errors.Join(err, readErr); err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = fmt.Sprint(info.Mode(), info.ModTime(), string(data))
	}
	return files
}
