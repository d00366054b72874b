package durable

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/lib/atomicfile"
)

// closedFile is in the directory of a Keeper that was closed: a mark, and a line for each file whose
// content is in the rows, with its stamp. The next Keeper does not read these files again if the rows
// have the mark, too: a power failure takes rows that are not in the object store.
const closedFile = "closed"

const (
	sqlMark   = `INSERT INTO durable_closed (id, mark) VALUES (1, ?1) ON CONFLICT (id) DO UPDATE SET mark = excluded.mark`
	sqlMarked = `SELECT mark FROM durable_closed`
)

// writeClosed lists the files that are as in the rows.
func (k *Keeper) writeClosed(ctx context.Context) error {
	mark := rand.Text()
	if err := k.db.Record(ctx, func(c *raw.Conn) error { return c.Exec(sqlMark, mark) }); err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintln(&b, mark)
	for _, o := range k.objects {
		if o.known && o.count > 0 && o.closed != (stamp{}) && len(o.unsaved) == 0 {
			fmt.Fprintln(&b, o.class, o.name, o.count, o.closed.ino, o.closed.size, o.closed.mtime)
		}
	}
	return atomicfile.WriteFile(filepath.Join(k.cfg.Dir, closedFile), []byte(b.String()), 0o600)
}

// readClosed takes the list, which is true until workerd runs.
func (k *Keeper) readClosed(ctx context.Context) error {
	path := filepath.Join(k.cfg.Dir, closedFile)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	mark, err := k.marked(ctx)
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(f)
	for same := lines.Scan() && lines.Text() == mark; same && lines.Scan(); {
		if fields := strings.Fields(lines.Text()); len(fields) == 6 {
			k.closedAs(fields)
		}
	}
	return os.Remove(path)
}

// marked is the mark in the rows.
func (k *Keeper) marked(ctx context.Context) (mark string, err error) {
	return mark, k.db.Read(ctx, func(c *raw.Conn) error {
		return c.Query(sqlMarked, nil, func(s *raw.Stmt) error {
			mark = s.Text(0)
			return nil
		})
	})
}

// closedAs takes one line; a damaged one is left out, and its file read.
func (k *Keeper) closedAs(fields []string) {
	var numbers [4]int64
	for i := range numbers {
		n, err := strconv.ParseInt(fields[2+i], 10, 64)
		if err != nil {
			return
		}
		numbers[i] = n
	}
	class, name := fields[0], fields[1]
	if _, ok := nameOf(filepath.Base(k.path(class, name))); !ok || missing(k.path(class, name)) {
		return
	}
	o := k.object(class, name)
	o.known, o.count = true, uint32(numbers[0])                                    //nolint:gosec // as written
	o.closed = stamp{ino: uint64(numbers[1]), size: numbers[2], mtime: numbers[3]} //nolint:gosec // as written
}
