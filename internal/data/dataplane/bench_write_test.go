package dataplane_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/dataplane"
	"github.com/svcctl/svcctl/internal/data/s3/s3test"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
)

// writing runs fn on the connection that writes.
type writing func(context.Context, func(*raw.Conn) error) error

// BenchmarkWrite makes small transactions, by one and by eight writers: on bare SQLite that syncs
// every commit (FULL) or none (NORMAL), and in databases, which sync, and ship their writes in the
// background (async) or before they return (sync), to the embedded object store on the same disk.
// The time to ship the rest at the end of a window counts.
func BenchmarkWrite(b *testing.B) {
	onDisk(b)
	bucket, _ := s3test.Bucket(b, s3test.Target(b))
	for _, writers := range []int{1, 8} {
		b.Run(fmt.Sprint(writers), func(b *testing.B) {
			s, m := newSite(b.TempDir(), bucket, 0), figures{}
			names := []string{"FULL", "NORMAL", "async", "sync"}
			rates := []func() float64{
				bareRate(b, s.dir, "FULL", writers), bareRate(b, s.dir, "NORMAL", writers), storeRate(b, s, "async", writers), storeRate(b, s, "sync", writers),
			}
			for order := turns(len(rates)); b.Loop(); {
				for _, i := range order() {
					m.add(names[i]+"-tx/s", rates[i]())
				}
			}
			m.ratio("async/FULL", "async-tx/s", "FULL-tx/s")
			m.ratio("async/NORMAL", "async-tx/s", "NORMAL-tx/s")
			m.ratio("sync/FULL", "sync-tx/s", "FULL-tx/s")
			m.report(b)
		})
	}
}

const writeTable = "CREATE TABLE t(id INTEGER PRIMARY KEY, at INTEGER, msg TEXT)"

// rate returns the transactions per second of some writers, until settle has returned.
func rate(b *testing.B, write writing, writers int, settle func()) float64 {
	b.Helper()
	var all sync.WaitGroup
	var done atomic.Int64
	began := time.Now()
	for range writers {
		all.Go(func() {
			for time.Since(began) < window() {
				err := write(b.Context(), func(c *raw.Conn) error {
					return c.Exec("INSERT INTO t(at, msg) VALUES (?, ?)", done.Add(1), "a log line of some forty characters ....")
				})
				if err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	settle()
	return float64(done.Load()) / time.Since(began).Seconds()
}

// bareRate is the rate of a connection with the settings of a database's writer.
func bareRate(b *testing.B, dir, synchronous string, writers int) func() float64 {
	b.Helper()
	c, err := raw.Open(filepath.Join(dir, synchronous+".sqlite"), raw.Options{BusyTimeout: 5 * time.Second})
	try(b, err)
	b.Cleanup(func() { _ = c.Close() })
	try(b, c.Script(`PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF; PRAGMA cache_size = -4000;
		PRAGMA temp_store = MEMORY; PRAGMA synchronous = `+synchronous+`;`+writeTable))
	var turn sync.Mutex
	write := func(_ context.Context, fn func(*raw.Conn) error) error {
		turn.Lock()
		defer turn.Unlock()
		return fn(c)
	}
	return func() float64 { return rate(b, write, writers, func() {}) }
}

// storeRate is the rate of a database of a new version.
func storeRate(b *testing.B, s *site, durability string, writers int) func() float64 {
	b.Helper()
	v, done := s.open(b, fmt.Sprint(durability, time.Now().UnixNano()), func(c *dataplane.Config) { c.Sync = durability == "sync" })
	b.Cleanup(done)
	st, err := v.Database(b.Context(), storeName)
	try(b, err)
	write(b, st, writeTable)
	settle := func() {
		_, offer, err := v.Cut(b.Context())
		try(b, err)
		decline(b, offer)
	}
	return func() float64 { return rate(b, st.Write, writers, settle) }
}
