package dataplane_test

import (
	"flag"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/dataplane"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/objstore/objstoretest"
	"github.com/svcctl/svcctl/internal/data/s3/s3test"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// The benchmarks of this package report medians. They measure the subjects of a comparison in
// turn, in alternating order, so that a busy machine disturbs all of them alike.
// make bench-branch runs them as documented in docs/design/branching.md.
//

var (
	full    = flag.Bool("full", false, "benchmarks: parents of 1 GB too, and long windows; takes minutes and 6 GB of disk")
	profile = flag.String("opening", "", "benchmarks: a directory for CPU profiles of the processes that open a child")
)

func TestMain(m *testing.M) {
	s3test.Main(m, map[string]svctest.Role{openerRole: runOpener, hostRoleName: runHostRole, pastRoleName: runPastRole})
}

// figures are measurements by name.
type figures map[string][]float64

func (f figures) add(name string, value float64) { f[name] = append(f[name], value) }

// time adds the duration of fn, in milliseconds.
func (f figures) time(name string, fn func()) {
	began := time.Now()
	fn()
	f.add(name, float64(time.Since(began))/float64(time.Millisecond))
}

// report reports the medians in place of the time of an iteration. Units have no blanks.
func (f figures) report(b *testing.B) {
	b.Helper()
	b.ReportMetric(0, "ns/op")
	for _, name := range slices.Sorted(maps.Keys(f)) {
		b.ReportMetric(median(f[name]), name)
	}
}

// ratio adds the median of a/b, round by round.
func (f figures) ratio(name, a, b string) {
	each := make([]float64, len(f[a]))
	for i := range each {
		each[i] = f[a][i] / f[b][i]
	}
	f.add(name, median(each))
}

func median(all []float64) float64 {
	s := slices.Sorted(slices.Values(all))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// turns returns the indexes of n subjects, in alternating order.
func turns(n int) func() []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	return func() []int {
		slices.Reverse(order)
		return order
	}
}

// site is a place for versions: a bucket with a latency, and a directory.
type site struct {
	dir    string
	bucket *objstoretest.Faulty
}

// requests and putBytes count the traffic to the bucket so far.
func (s *site) requests() float64 {
	n := int64(0)
	for _, c := range []*atomic.Int64{&s.bucket.Puts, &s.bucket.Gets, &s.bucket.Lists, &s.bucket.Stats} {
		n += c.Load()
	}
	return float64(n)
}

func (s *site) putBytes() float64 { return float64(s.bucket.PutBytes.Load()) }

func newSite(dir string, bucket objstore.Bucket, latency time.Duration) *site {
	s := &site{dir, objstoretest.NewFaulty(bucket, objstoretest.Faults{}, 1)}
	s.bucket.Latency = latency
	return s
}

// config is the configuration of a version on this machine.
func (s *site) config(version, parent string) (dataplane.Config, error) {
	logger := slog.New(slog.DiscardHandler)
	branches, err := branch.New(branch.Config{Data: s.bucket, Logger: logger})
	return dataplane.Config{
		Ref: svc.Ref{Project: "p", Version: version}, Parent: parent, Dir: filepath.Join(s.dir, version),
		Bucket: s.bucket, Branches: branches, Owner: svc.Owner{Node: "h", Session: "s"}, Logger: logger,
	}, err
}

// open opens a version until done is called.
func (s *site) open(b *testing.B, version string, change func(*dataplane.Config)) (v *dataplane.Volumes, done func()) {
	b.Helper()
	c, err := s.config(version, "")
	try(b, err)
	if change != nil {
		change(&c)
	}
	v, err = dataplane.Open(b.Context(), c)
	try(b, err)
	return v, func() { try(b, v.Close()) }
}

func try(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// window is how long one measurement of a rate lasts.
func window() time.Duration {
	if *full {
		return time.Second
	}
	return 200 * time.Millisecond
}
