package durable

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
)

// fill writes the rows of that many objects of 16 KiB.
func fill(b *testing.B, v volume.Volumes, n int) {
	b.Helper()
	path := filepath.Join(b.TempDir(), "object"+suffix)
	c, err := raw.Open(path, raw.Options{})
	if err != nil {
		b.Fatal(err)
	}
	if err := c.Script(`CREATE TABLE t(v); CREATE TABLE _cf_METADATA(key INTEGER PRIMARY KEY, value BLOB); INSERT INTO t VALUES (zeroblob(5000))`); err != nil {
		b.Fatal(err)
	}
	if err := c.Close(); err != nil {
		b.Fatal(err)
	}
	f := follower{path: path}
	ch, err := f.poll()
	if err != nil {
		b.Fatal(err)
	}
	db, err := Open(b.Context(), v)
	if err == nil {
		_, err = adopt(b.Context(), db, "v1", nil)
	}
	if err == nil {
		err = db.Write(b.Context(), func(c *raw.Conn) error {
			return c.InTx("BEGIN IMMEDIATE", func() error {
				for i := range n {
					if err := save(c, key, fmt.Sprintf("%x", sha256.Sum256([]byte{byte(i), byte(i >> 8)})), ch); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
	if err != nil {
		b.Fatal(err)
	}
}

// BenchmarkRestore makes the files of inherited objects, as a child does before it serves and
// a version that is woken.
func BenchmarkRestore(b *testing.B) {
	for _, objects := range []int{10, 1000, 10_000} {
		b.Run(strconv.Itoa(objects), func(b *testing.B) {
			v := bindingtest.OpenVolumes(b, b.TempDir())
			fill(b, v, objects)
			for b.Loop() {
				dir := filepath.Join(b.TempDir(), "objects")
				k, err := New(b.Context(), Config{Dir: dir, Version: "v2", Volumes: v, Keys: []string{key}, Logger: slog.New(slog.DiscardHandler)})
				b.StopTimer()
				if err == nil {
					err = errors.Join(k.Close(), os.RemoveAll(dir))
				}
				if err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		})
	}
}
