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

func objectID(i int) string { return fmt.Sprintf("%x", sha256.Sum256([]byte{byte(i), byte(i >> 8)})) }

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
		_, err = adopt(b.Context(), db, Config{Version: "v1"})
	}
	if err == nil {
		err = db.Write(b.Context(), func(c *raw.Conn) error {
			return c.InTx("BEGIN IMMEDIATE", func() error {
				for i := range n {
					if err := save(c, key, objectID(i), ch); err != nil {
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

// BenchmarkStart makes the storage of inherited objects ready, as a child does before it
// serves and a version that is woken: with files that are made when they are opened, and
// with all files made before.
func BenchmarkStart(b *testing.B) {
	for _, all := range []bool{false, true} {
		for _, objects := range []int{10, 1000, 10_000} {
			b.Run(map[bool]string{false: "lazy", true: "all"}[all]+"/"+strconv.Itoa(objects), func(b *testing.B) { benchStart(b, objects, all) })
		}
	}
}

func benchStart(b *testing.B, objects int, all bool) {
	b.Helper()
	v := bindingtest.OpenVolumes(b, b.TempDir())
	fill(b, v, objects)
	for i := 2; b.Loop(); i++ {
		dir := filepath.Join(b.TempDir(), "objects")
		k, err := New(b.Context(), Config{Dir: dir, Version: fmt.Sprint("v", i), Volumes: v, Keys: []string{key}, Logger: slog.New(slog.DiscardHandler)})
		if err == nil && all {
			err = k.MakeAll(b.Context())
		}
		b.StopTimer()
		if err == nil {
			err = errors.Join(k.Close(), os.RemoveAll(dir))
		}
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

// BenchmarkOpening makes the file of one object among 10,000: synced, as while workerd serves,
// and not, as while it starts.
func BenchmarkOpening(b *testing.B) {
	b.Run("synced", func(b *testing.B) { benchOpening(b, true) })
	b.Run("unsynced", func(b *testing.B) { benchOpening(b, false) })
}

func benchOpening(b *testing.B, synced bool) {
	b.Helper()
	const objects = 10_000
	v := bindingtest.OpenVolumes(b, b.TempDir())
	fill(b, v, objects)
	k, err := New(b.Context(), Config{Dir: filepath.Join(b.TempDir(), "objects"), Version: "v2", Volumes: v, Keys: []string{key}, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	if synced {
		err = k.settle(b.Context())
	} else {
		k.unsettled = ""
	}
	for i := 0; b.Loop(); i++ {
		path := filepath.Join(k.Dir(), key, objectID(i%objects)+suffix)
		if i%objects == 0 && i > 0 { // all were made
			b.StopTimer()
			clear(k.opened)
			err = errors.Join(os.RemoveAll(filepath.Dir(path)), k.makeDirs())
			b.StartTimer()
		}
		if err = errors.Join(err, k.Opening(b.Context(), path)); err != nil {
			b.Fatal(err)
		}
	}
	if err := k.Close(); err != nil {
		b.Fatal(err)
	}
}
