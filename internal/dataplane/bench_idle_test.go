package dataplane_test

import (
	"fmt"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/svcctl/svcctl/internal/s3/s3test"
)

const idleStores = 50

// BenchmarkIdle has fifty stores open that were written to, and does nothing:
// what that asks of the object store in a minute, and the share of a processor
// that it costs.
func BenchmarkIdle(b *testing.B) {
	bucket, _ := s3test.Bucket(b, s3test.Target(b))
	s := newSite(b.TempDir(), bucket, 0)
	v, done := s.open(b, "v1", nil)
	defer done()
	for i := range idleStores {
		st, err := v.Store(b.Context(), fmt.Sprint("database-", i))
		try(b, err)
		write(b, st, writeTable)
	}
	_, offer, err := v.Cut(b.Context())
	try(b, err)
	decline(b, offer)
	time.Sleep(window()) // until the files are let go
	m := figures{}
	for b.Loop() {
		began, requests, cpu := time.Now(), s.requests(), processorTime(b)
		time.Sleep(30 * window())
		took := time.Since(began)
		m.add("requests/min", (s.requests()-requests)/took.Minutes())
		m.add("%cpu", 100*float64(processorTime(b)-cpu)/float64(took))
	}
	m.report(b)
}

// processorTime is what this process has worked.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var t unix.Timespec
	try(b, unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t))
	return time.Duration(t.Nano())
}
