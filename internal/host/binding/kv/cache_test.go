package kv_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
)

// counting are volumes whose databases count the reads.
type counting struct {
	volume.Volumes
	reads *atomic.Int64
}

type countingDatabase struct {
	volume.Database
	reads *atomic.Int64
}

func (v counting) Database(ctx context.Context, name string) (volume.Database, error) {
	db, err := v.Volumes.Database(ctx, name)
	return countingDatabase{db, v.reads}, err
}

func (db countingDatabase) Read(ctx context.Context, fn func(*raw.Conn) error) error {
	db.reads.Add(1)
	return db.Database.Read(ctx, fn)
}

func openCounting(t *testing.T) counting {
	t.Helper()
	return counting{bindingtest.OpenVolumes(t, t.TempDir()), new(atomic.Int64)}
}

func shared(t *testing.T, v volume.Volumes) volume.Database {
	t.Helper()
	db, err := v.Database(t.Context(), volume.SharedDatabase)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// A get asks the database once until something is written, by whichever route.
func TestGetsAreCached(t *testing.T) {
	t.Parallel()
	v := openCounting(t)
	in := open(t, v)
	answers := func(when, answer string, reads int64) {
		t.Helper()
		v.reads.Store(0)
		for range 3 {
			want(t, in, "GET", "/a", "", answer)
		}
		if n := v.reads.Load(); n != reads {
			t.Errorf("%s: %d reads of the database, want %d", when, n, reads)
		}
	}
	answers("without the key", "404", 1)
	want(t, in, "PUT", "/a", "one", "200")
	answers("after a put", "200 one", 1)
	want(t, in, "GET", "/b", "", "404")
	answers("after a get of another key", "200 one", 0)
	err := shared(t, v).Write(t.Context(), func(c *raw.Conn) error { return c.Exec("UPDATE kv_entry SET value = CAST('two' AS BLOB)") })
	if err != nil {
		t.Fatal(err)
	}
	answers("after a write of something else", "200 two", 1)
	want(t, in, "DELETE", "/a", "", "200")
	answers("after a delete", "404", 1)
	large := strings.Repeat("x", 17<<10)
	want(t, in, "PUT", "/a", large, "200")
	answers("with a large value", "200 "+large, 3)
}

// The cache is bounded: what does not fit is read again.
func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	v := openCounting(t)
	in := open(t, v)
	const keys = 90 // of 16 KB each
	err := shared(t, v).Write(t.Context(), func(c *raw.Conn) error {
		return c.Exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
			INSERT INTO kv_entry (namespace, key, value) SELECT 1, i, zeroblob(16000) FROM n`, keys)
	})
	if err != nil {
		t.Fatal(err)
	}
	for round := range 2 {
		for i := 1; i <= keys; i++ {
			want(t, in, "GET", "/"+strconv.Itoa(i), "", "200 "+strings.Repeat("\x00", 16000))
		}
		if n := v.reads.Load(); round == 1 && n < keys+20 {
			t.Errorf("%d reads of the database for %d gets of 1.4 MB", n, 2*keys)
		}
	}
}

// A get beside a write that is not over sees what it has committed.
func TestGetDuringWrite(t *testing.T) {
	t.Parallel()
	v := openCounting(t)
	in := open(t, v)
	want(t, in, "PUT", "/a", "old", "200")
	want(t, in, "GET", "/a", "", "200 old")
	update := func(c *raw.Conn) error { return c.Exec("UPDATE kv_entry SET value = CAST('new' AS BLOB)") }
	err := shared(t, v).Write(t.Context(), func(c *raw.Conn) error {
		return c.InTx("BEGIN IMMEDIATE", func() error {
			if err := update(c); err != nil {
				return err
			}
			want(t, in, "GET", "/a", "", "200 old")
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	want(t, in, "GET", "/a", "", "200 new")
	err = shared(t, v).Write(t.Context(), func(c *raw.Conn) error {
		if err := c.Exec("UPDATE kv_entry SET value = CAST('newer' AS BLOB)"); err != nil {
			return err
		}
		want(t, in, "GET", "/a", "", "200 newer")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want(t, in, "GET", "/a", "", "200 newer")
}

// A get that begins after a put was answered gets that value or a later one.
func TestCacheIsNeverBehind(t *testing.T) {
	t.Parallel()
	in := open(t, bindingtest.OpenVolumes(t, t.TempDir()))
	const puts = 50
	var written atomic.Int64
	var all sync.WaitGroup
	want(t, in, "PUT", "/n", "0", "200")
	for range 3 {
		all.Go(func() {
			for before := int64(0); before < puts; {
				before = written.Load()
				var n int64
				answer := do(t, in, "GET", "/n", "")
				if _, err := fmt.Sscanf(answer, "200 %d", &n); err != nil || n < before {
					t.Errorf("after put %d: %q", before, answer)
					return
				}
			}
		})
	}
	for n := int64(1); n <= puts; n++ {
		want(t, in, "PUT", "/n", strconv.FormatInt(n, 10), "200")
		written.Store(n)
	}
	all.Wait()
}
