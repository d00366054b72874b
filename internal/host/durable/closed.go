package durable

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/svcctl/svcctl/internal/lib/atomicfile"
)

// closedFile is in the directory of a Keeper that was closed: a line for each file whose
// content is in the rows, with its stamp. The next Keeper does not read these files again.
const closedFile = "closed"

// writeClosed lists the files that are as in the rows.
func (k *Keeper) writeClosed() error {
	var b strings.Builder
	for _, o := range k.objects {
		if o.known && o.count > 0 && o.closed != (stamp{}) && len(o.unsaved) == 0 {
			fmt.Fprintln(&b, o.class, o.name, o.count, o.closed.ino, o.closed.size, o.closed.mtime)
		}
	}
	return atomicfile.WriteFile(filepath.Join(k.cfg.Dir, closedFile), []byte(b.String()), 0o600)
}

// readClosed takes the list, which is true until workerd runs.
func (k *Keeper) readClosed() error {
	path := filepath.Join(k.cfg.Dir, closedFile)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if fields := strings.Fields(lines.Text()); len(fields) == 6 {
			k.closedAs(fields)
		}
	}
	return os.Remove(path)
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
