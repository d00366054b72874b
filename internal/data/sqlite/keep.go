package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/svcctl/svcctl/internal/lib/atomicfile"
)

// kept is a copy of a database file from before a migration.
type kept struct {
	path    string
	version int // of its schema
}

const keptMark = ".schema-"

// keep copies the file at version at to PATH.schema-N, before it is migrated. It returns
// when the copy is on the disk. A copy from an earlier attempt is replaced.
func keep(ctx context.Context, conn *sql.Conn, path string, at int) error {
	to := path + keptMark + strconv.Itoa(at)
	temporary := to + ".new"
	if err := remove(temporary); err != nil {
		return err
	}
	if err := create(temporary); err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, "VACUUM INTO ?", temporary); err != nil {
		return errors.Join(orFull(err), remove(temporary))
	}
	if err := syncFile(temporary); err != nil {
		return err
	}
	if err := os.Rename(temporary, to); err != nil {
		return err
	}
	return atomicfile.SyncDir(filepath.Dir(path))
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// copies are the kept copies of a file, the newest schema first.
func copies(path string) []kept {
	names, err := filepath.Glob(globQuote(path) + keptMark + "*")
	if err != nil {
		return nil // impossible: the pattern is quoted
	}
	var list []kept
	for _, name := range names {
		if n, err := strconv.Atoi(name[len(path)+len(keptMark):]); err == nil {
			list = append(list, kept{name, n})
		}
	}
	slices.SortFunc(list, func(a, b kept) int { return cmp.Compare(b.version, a.version) })
	return list
}

// globQuote is a path as a pattern that matches only itself.
func globQuote(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// trim deletes all copies but the newest n.
func trim(path string, n int) error {
	var errs []error
	for _, c := range copies(path)[min(n, len(copies(path))):] {
		errs = append(errs, remove(c.path))
	}
	return errors.Join(errs...)
}

// usable says how to go back to a copy that this program can open.
func usable(path string, oldest, newest int) string {
	for _, c := range copies(path) {
		if c.version >= oldest && c.version <= newest {
			return fmt.Sprintf(", or move %s to %s and delete %[2]s-wal and %[2]s-shm: it has the state before the upgrade", c.path, path)
		}
	}
	return ""
}
