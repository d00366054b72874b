package cowvfs_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/superfly/ltx"

	"github.com/svcctl/svcctl/internal/cowvfs"
	"github.com/svcctl/svcctl/internal/sqlite/raw"
)

// attach attaches a file that is detached at the end of the test.
func attach(t testing.TB, o cowvfs.Options) *cowvfs.File {
	t.Helper()
	f, err := cowvfs.Attach(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Detach(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// open opens a connection as the data plane does.
func open(t testing.TB, path string) *raw.Conn {
	t.Helper()
	c, err := openWriter(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func openWriter(path string) (*raw.Conn, error) {
	c, err := raw.Open(path, raw.Options{VFS: cowvfs.Name, BusyTimeout: 5 * time.Second})
	if err != nil {
		return nil, err
	}
	err = c.Script(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA cache_size = -1000; PRAGMA temp_store = MEMORY;`)
	return c, err
}

func openReader(t testing.TB, path string) *raw.Conn {
	t.Helper()
	c, err := raw.Open(path, raw.Options{VFS: cowvfs.Name, ReadOnly: true, BusyTimeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func run(t testing.TB, c *raw.Conn, sql string, args ...any) {
	t.Helper()
	if err := c.Exec(sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// takeAll takes every segment and moves it into the folder store.
func takeAll(t testing.TB, f *cowvfs.File, store string) ltx.TXID {
	t.Helper()
	id, err := shipAll(f, store)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// shipAll is what a shipper does: create-only, in order.
func shipAll(f *cowvfs.File, store string) (ltx.TXID, error) {
	for {
		s, ok, err := f.Take()
		if err != nil || !ok {
			return f.TXID(), err
		}
		b, err := os.ReadFile(s.Path)
		if err != nil {
			return 0, err
		}
		if int64(len(b)) != s.Bytes {
			return 0, fmt.Errorf("%s has %d bytes, not %d", s.Path, len(b), s.Bytes)
		}
		if err := create(filepath.Join(store, filepath.Base(s.Path)), b); err != nil {
			return 0, err
		}
		if err := f.Shipped(s.TXID); err != nil {
			return 0, err
		}
	}
}

// create makes a file whole and never replaces one, other than by itself.
func create(path string, b []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), "put-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	if _, err := tmp.Write(b); err != nil {
		return err
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	if err := os.Link(tmp.Name(), path); errors.Is(err, os.ErrExist) {
		have, err := os.ReadFile(path)
		if err == nil && string(have) != string(b) {
			err = fmt.Errorf("%s exists and is another", path)
		}
		return err
	} else if err != nil {
		return err
	}
	return nil
}

// rebuild makes a database of the segments of a store up to id, on top of base
// if that is not "", in the way every reader of LTX does.
func rebuild(store string, from, id ltx.TXID, base, path string) error {
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	defer out.Close()
	if base != "" {
		b, err := os.ReadFile(base)
		if err == nil {
			_, err = out.Write(b)
		}
		if err != nil {
			return err
		}
	}
	for n := from + 1; n <= id; n++ {
		if err := apply(out, filepath.Join(store, ltx.FormatFilename(n, n))); err != nil {
			return fmt.Errorf("applying %s: %w", n, err)
		}
	}
	return nil
}

func apply(out *os.File, path string) error {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	dec := ltx.NewDecoder(in)
	if err := dec.DecodeHeader(); err != nil {
		return err
	}
	h := dec.Header()
	buf := make([]byte, h.PageSize)
	for {
		var p ltx.PageHeader
		if err := dec.DecodePage(&p, buf); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		if _, err := out.WriteAt(buf, int64(p.Pgno-1)*int64(h.PageSize)); err != nil {
			return err
		}
	}
	if err := dec.Close(); err != nil {
		return err
	}
	return out.Truncate(int64(h.Commit) * int64(h.PageSize))
}

// mergeAll is rebuild by way of one merged segment.
func mergeAll(ctx context.Context, store string, from, id ltx.TXID, base, path string) (err error) {
	var in []io.Reader
	for n := from + 1; n <= id; n++ {
		f, err := os.Open(filepath.Join(store, ltx.FormatFilename(n, n)))
		if err != nil {
			return err
		}
		defer f.Close()
		in = append(in, f)
	}
	merged, err := os.Create(path + ".ltx")
	if err != nil {
		return err
	}
	defer merged.Close()
	c, err := ltx.NewCompactor(merged, in)
	if err != nil {
		return err
	}
	c.HeaderFlags = ltx.HeaderFlagNoChecksum
	if err := c.Compact(ctx); err != nil {
		return err
	}
	if err := rebuild(store, 0, 0, base, path); err != nil {
		return err
	}
	out, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer out.Close()
	return apply(out, merged.Name())
}

// hash is over everything that a user can see in a database.
func hash(c *raw.Conn) (string, error) {
	var tables []string
	sum := sha256.New()
	err := c.Query(`SELECT name, sql FROM sqlite_schema ORDER BY name, sql`, nil, func(s *raw.Stmt) error {
		fmt.Fprintf(sum, "%q %q\n", s.Text(0), s.Text(1))
		if strings.HasPrefix(s.Text(1), "CREATE TABLE") {
			tables = append(tables, s.Text(0))
		}
		return nil
	})
	for _, t := range tables {
		if err != nil {
			break
		}
		err = c.Query(`SELECT rowid, * FROM "`+t+`" ORDER BY rowid`, nil, func(s *raw.Stmt) error {
			for i := range s.Columns() {
				fmt.Fprintf(sum, "%d %d:", s.ColumnType(i), len(s.View(i)))
				sum.Write(s.View(i))
			}
			return nil
		})
	}
	return fmt.Sprintf("%x", sum.Sum(nil)[:12]), err
}

// check opens a database natively and gives its hash, if it is sound.
func check(path string) (string, error) {
	c, err := raw.Open(path, raw.Options{})
	if err != nil {
		return "", err
	}
	defer c.Close()
	return sound(c)
}

func sound(c *raw.Conn) (string, error) {
	var bad string
	err := c.Query(`PRAGMA integrity_check`, nil, func(s *raw.Stmt) error {
		if s.Text(0) != "ok" {
			bad += s.Text(0) + "\n"
		}
		return nil
	})
	if err == nil && bad != "" {
		err = errors.New(bad)
	}
	if err != nil {
		return "", err
	}
	return hash(c)
}

// fileSource is the image that a file without a WAL holds.
type fileSource struct {
	f     *os.File
	size  int
	pages uint32
	fail  func() error                // what a read fails with
	slow  func(context.Context) error // waits
}

func newFileSource(t testing.TB, path string) *fileSource {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	return &fileSource{f: f, size: 4096, pages: uint32(info.Size() / 4096)}
}

func (s *fileSource) PageSize() int { return s.size }
func (s *fileSource) Pages() uint32 { return s.pages }

func (s *fileSource) ReadPages(ctx context.Context, first uint32, n int) ([]byte, error) {
	if s.slow != nil {
		if err := s.slow(ctx); err != nil {
			return nil, err
		}
	}
	if s.fail != nil {
		if err := s.fail(); err != nil {
			return nil, err
		}
	}
	b := make([]byte, n*s.size)
	_, err := s.f.ReadAt(b, int64(first-1)*int64(s.size))
	return b, err
}
