package rowdiff_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
)

// image is a database file in memory.
type image struct {
	size int
	data []byte
	read map[uint32]int // how often each page was read
}

func (i *image) PageSize() int { return i.size }
func (i *image) Pages() uint32 { return uint32(len(i.data) / max(i.size, 1)) }

func (i *image) page(pgno uint32) []byte { return i.data[int(pgno-1)*i.size : int(pgno)*i.size] }

func (i *image) ReadEach(_ context.Context, pages []uint32, fn func(uint32, []byte) error) error {
	for _, pgno := range pages {
		i.read[pgno]++
		if err := fn(pgno, i.page(pgno)); err != nil {
			return err
		}
	}
	return nil
}

// file is a database whose content is in its file after each statement.
type file struct {
	t    *testing.T
	path string
	conn *raw.Conn
	size int
}

func create(t *testing.T, pageSize int) *file {
	t.Helper()
	f := &file{t: t, path: filepath.Join(t.TempDir(), "db"), size: pageSize}
	var err error
	if f.conn, err = raw.Open(f.path, raw.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.conn.Close() })
	f.exec(fmt.Sprintf("PRAGMA page_size = %d; PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF", pageSize))
	return f
}

func (f *file) exec(sql string) {
	f.t.Helper()
	if err := f.conn.Script(sql); err != nil {
		f.t.Fatalf("%s: %v", sql, err)
	}
}

func (f *file) image() *image {
	f.t.Helper()
	data, err := os.ReadFile(f.path)
	if err != nil {
		f.t.Fatal(err)
	}
	return &image{size: f.size, data: data, read: map[uint32]int{}}
}

// rows returns all rows of the tables by key.
func (f *file) rows() map[string]map[string]string {
	f.t.Helper()
	all := map[string]map[string]string{}
	var names []string
	f.query("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'", func(s *raw.Stmt) {
		names = append(names, s.Text(0))
	})
	for _, name := range names {
		key := "rowid"
		if name == "bare" {
			key = "k || ',' || n"
		}
		rows := map[string]string{}
		f.query(fmt.Sprintf(`SELECT %s, * FROM "%s"`, key, strings.ReplaceAll(name, `"`, `""`)), func(s *raw.Stmt) {
			var row strings.Builder
			for i := 1; i < s.Columns(); i++ {
				fmt.Fprintf(&row, "%v %q,", s.ColumnType(i), s.Text(i))
			}
			rows[s.Text(0)] = row.String()
		})
		all[name] = rows
	}
	return all
}

func (f *file) query(sql string, row func(*raw.Stmt)) {
	f.t.Helper()
	err := f.conn.Query(sql, nil, func(s *raw.Stmt) error { row(s); return nil })
	if err != nil {
		f.t.Fatalf("%s: %v", sql, err)
	}
}
