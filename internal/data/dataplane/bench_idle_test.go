package dataplane_test

import (
	"fmt"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/svcctl/svcctl/internal/data/s3/s3test"
)

const idleDatabases = 50

// BenchmarkIdle measures the requests to the object store in a minute, and the processor time, of
// fifty idle databases that were written to before.
func BenchmarkIdle(b *testing.B) {
	bucket, _ := s3test.Bucket(b, s3test.Target(b))
	s := newSite(b.TempDir(), bucket, 0)
	v, done := s.open(b, "v1", nil)
	defer done()
	for i := range idleDatabases {
		st, err := v.Database(b.Context(), fmt.Sprint("database-", i))
		try(b, err)
		write(b, st, writeTable)
	}
	_, offer, err := v.Cut(b.Context())
	try(b, err)
	decline(b, offer)
	time.Sleep(window()) // until the files are released
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

// processorTime is the processor time of this process.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var t unix.Timespec
	try(b, unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t))
	return time.Duration(t.Nano())
}
