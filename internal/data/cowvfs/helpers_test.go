package cowvfs_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/superfly/ltx"

	"github.com/svcctl/svcctl/internal/data/cowvfs"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
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

// takeAll moves every pending segment into the folder store.
func takeAll(t testing.TB, f *cowvfs.File, store string) ltx.TXID {
	t.Helper()
	id, err := shipAll(f, store)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// shipAll ships segments as a shipper does: create-only, in order.
func shipAll(f *cowvfs.File, store string) (ltx.TXID, error) {
	for {
		s, ok, err := f.Next()
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

// create creates a complete file and never replaces one with other content.
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
			err = fmt.Errorf("%s exists with other content", path)
		}
		return err
	} else if err != nil {
		return err
	}
	return nil
}

// rebuild makes a database of the segments up to id, on top of base if that is not "", as
// readers of LTX do.
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
			return fmt.Errorf("apply %s: %w", n, err)
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

// mergeAll is rebuild with one merged segment.
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

// fileSource is the content of a file without a WAL.
type fileSource struct {
	f     *os.File
	size  int
	pages uint32
	fail  func() error                // the error of a read
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
