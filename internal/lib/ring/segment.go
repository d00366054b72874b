package ring

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// segment is one file of a ring.
type segment struct {
	path  string
	first uint64 // number of its first record
}

const suffix = ".jsonl"

func segmentPath(dir, name string, first uint64) string {
	return filepath.Join(dir, fmt.Sprintf("%s-%020d%s", name, first, suffix))
}

// segments lists the files of a ring, oldest first. A directory that does not exist has
// none.
func segments(dir, name string) ([]segment, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("listing the segments of %s: %w", name, err)
	}
	var list []segment
	for _, e := range entries {
		digits, ok := strings.CutPrefix(strings.TrimSuffix(e.Name(), suffix), name+"-")
		if !ok || !strings.HasSuffix(e.Name(), suffix) {
			continue
		}
		if first, err := strconv.ParseUint(digits, 10, 64); err == nil {
			list = append(list, segment{filepath.Join(dir, e.Name()), first})
		}
	}
	slices.SortFunc(list, func(a, b segment) int { return strings.Compare(a.path, b.path) })
	return list, nil
}

const prefix = `{"n":`

// number reads the number of a record.
func number(line []byte) (uint64, bool) {
	rest, ok := bytes.CutPrefix(line, []byte(prefix))
	if !ok || len(rest) == 0 || rest[len(rest)-1] != '}' {
		return 0, false
	}
	end := bytes.IndexAny(rest, ",}")
	n, err := strconv.ParseUint(string(rest[:end]), 10, 64)
	return n, err == nil && n > 0
}

// lastBlock is how much of the end of a segment is read to find its last record.
const lastBlock = 1 << 20

// last finds the number of the newest record of a segment, 0 if it has no whole record,
// its size, and whether its last line is whole.
func (s segment) last() (n uint64, size int64, whole bool, err error) { //nolint:revive // what the end of a file tells
	f, err := os.Open(s.path)
	if err != nil {
		return 0, 0, false, fmt.Errorf("opening a segment: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, 0, false, fmt.Errorf("reading a segment: %w", err)
	}
	size = info.Size()
	block := make([]byte, min(size, lastBlock))
	if _, err := f.ReadAt(block, size-int64(len(block))); err != nil {
		return 0, 0, false, fmt.Errorf("reading a segment: %w", err)
	}
	whole = len(block) == 0 || block[len(block)-1] == '\n'
	for len(block) > 0 && n == 0 {
		end := bytes.LastIndexByte(block, '\n')
		if end < 0 {
			break
		}
		n, _ = number(block[bytes.LastIndexByte(block[:end], '\n')+1 : end])
		block = block[:end]
	}
	return n, size, whole, nil
}

// Last returns the number of the newest record of a ring, 0 if it is empty.
func Last(dir, name string) (uint64, error) {
	list, err := segments(dir, name)
	for i := len(list) - 1; i >= 0 && err == nil; i-- {
		var n uint64
		if n, _, _, err = list[i].last(); n > 0 {
			return n, nil
		}
	}
	return 0, err
}

// Since returns the number before the first record of the oldest segment that was written
// to at t or later: a Reader that begins there misses no record since t.
func Since(dir, name string, t time.Time) (uint64, error) {
	last, err := Last(dir, name) // before the times: a record may be written meanwhile
	if err != nil {
		return 0, err
	}
	list, err := segments(dir, name)
	for _, s := range list {
		if info, err := os.Stat(s.path); err == nil && !info.ModTime().Before(t) {
			return min(s.first-1, last), nil
		}
	}
	return last, err
}

// First returns the number before the oldest segment of a ring, where a Reader of
// everything begins.
func First(dir, name string) (uint64, error) {
	list, err := segments(dir, name)
	if err != nil || len(list) == 0 {
		return 0, err
	}
	return list[0].first - 1, nil
}
