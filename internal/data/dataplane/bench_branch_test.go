package dataplane_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/dataplane"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/s3/s3test"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/data/volume"
)

// BenchmarkBranch forks parents of several sizes, in turn, and reads one row of their children.
// The latency is added to each request to the embedded object store: ms/put is the duration of a
// small create-only PUT.
func BenchmarkBranch(b *testing.B) {
	target := s3test.Target(b)
	bucket, prefix := s3test.Bucket(b, target)
	dir := b.TempDir()
	all := fillParents(b, newSite(dir, bucket, 0))
	latencies := []time.Duration{time.Millisecond, 20 * time.Millisecond}
	each := func(state string, run func(*family)) {
		for _, latency := range latencies {
			f := &family{site: newSite(dir, bucket, latency), store: storePlace{target.Endpoint, target.AccessKey, target.SecretKey.Reveal(), prefix}}
			f.parents, f.state = all, fmt.Sprintf("%s/%v", state, latency)
			run(f)
		}
	}
	each("live", func(f *family) {
		defer f.open(b)()
		b.Run("fork/"+f.state, f.forkLive)
		b.Run("first-query/cold/"+f.state, func(b *testing.B) { f.firstQuery(b, false) })
		b.Run("first-query/warm/"+f.state, func(b *testing.B) { f.firstQuery(b, true) })
	})
	archiveParents(b, newSite(dir, bucket, 0), all)
	each("archived", func(f *family) {
		b.Run("fork/"+f.state, f.forkArchived)
		b.Run("first-query/cold/"+f.state, f.firstQueryArchived)
		b.Run("wake/"+f.state, f.wake)
	})
}

// parent is a root version with one database.
type parent struct {
	name, version string
	rows          int

	volumes *dataplane.Volumes // while it is live
	db      volume.Database
}

// family is the parents with one latency.
type family struct {
	site    *site
	store   storePlace
	state   string
	parents []*parent
	forks   int
}

const (
	storeName = "database-main"
	rowBytes  = 1000 // random bytes, which do not compress
	fillRows  = 16000
)

func sizes() []*parent {
	all := []*parent{{name: "1MB", rows: 800}, {name: "100MB", rows: 80_000}}
	if *full {
		all = append(all, &parent{name: "1GB", rows: 820_000})
	}
	return all
}

// fillParents creates the parents and ships them to the object store.
func fillParents(b *testing.B, s *site) []*parent {
	b.Helper()
	all := sizes()
	for _, p := range all {
		p.version = "v" + p.name
		v, done := s.open(b, p.version, nil)
		st, err := v.Database(b.Context(), storeName)
		try(b, err)
		write(b, st, "CREATE TABLE t(id INTEGER PRIMARY KEY, k TEXT UNIQUE, v BLOB)")
		for from := 0; from < p.rows; from += fillRows {
			write(b, st, fmt.Sprintf(`WITH n(i) AS (SELECT %d UNION ALL SELECT i+1 FROM n WHERE i < %d)
				INSERT INTO t SELECT i, 'key-' || i, randomblob(%d) FROM n`, from+1, min(from+fillRows, p.rows), rowBytes))
		}
		_, offer, err := v.Cut(b.Context())
		try(b, err)
		decline(b, offer)
		done()
	}
	return all
}

func write(b *testing.B, db volume.Database, text string) {
	b.Helper()
	try(b, db.Write(b.Context(), func(c *raw.Conn) error { return c.Script(text) }))
}

func archiveParents(b *testing.B, s *site, all []*parent) {
	b.Helper()
	for _, p := range all {
		v, _ := s.open(b, p.version, nil)
		try(b, v.Archive(b.Context()))
		try(b, os.RemoveAll(filepath.Join(s.dir, p.version)))
	}
}

// open makes the parents live until done is called.
func (f *family) open(b *testing.B) (done func()) {
	b.Helper()
	var ends []func()
	for _, p := range f.parents {
		v, end := f.site.open(b, p.version, nil)
		st, err := v.Database(b.Context(), storeName)
		try(b, err)
		p.volumes, p.db = v, st
		ends = append(ends, end)
	}
	return func() {
		for _, end := range ends {
			end()
		}
	}
}

// forkLive measures the fork of a parent that runs and has just been written to.
func (f *family) forkLive(b *testing.B) {
	f.measure(b, func(p *parent, m figures) {
		f.change(b, p)
		var offer string
		f.account(m, p, func() { offer, _ = f.fork(b, p) })
		decline(b, offer)
	})
}

// forkArchived measures the fork of an archived parent.
func (f *family) forkArchived(b *testing.B) {
	f.measure(b, func(p *parent, m figures) { f.account(m, p, func() { f.forkStored(b, p) }) })
}

// measure runs one for each parent in turn, and a PUT for comparison.
func (f *family) measure(b *testing.B, one func(*parent, figures)) {
	b.Helper()
	m, order := figures{}, turns(len(f.parents))
	for b.Loop() {
		m.time("ms/put", func() {
			_, err := objstore.SettleBytes(b.Context(), f.site.bucket, f.name("put/"), make([]byte, 400), objstore.Condition{IfAbsent: true})
			try(b, err)
		})
		for _, i := range order() {
			one(f.parents[i], m)
		}
	}
	last := f.parents[len(f.parents)-1].name
	m.ratio(last+"/1MB", "ms/"+last, "ms/1MB")
	m.report(b)
}

// account measures fn and its requests to the object store.
func (f *family) account(m figures, p *parent, fn func()) {
	requests, bytes := f.site.requests(), f.site.putBytes()
	m.time("ms/"+p.name, fn)
	m.add("requests/"+p.name, f.site.requests()-requests)
	m.add("put-B/"+p.name, f.site.putBytes()-bytes)
}

func (f *family) change(b *testing.B, p *parent) {
	b.Helper()
	write(b, p.db, fmt.Sprintf("UPDATE t SET v = randomblob(%d) WHERE id = %d", rowBytes, 1+rand.IntN(p.rows)))
}

// name returns a new name in the bucket.
func (f *family) name(prefix string) string {
	f.forks++
	return fmt.Sprintf("%s%d-%d", prefix, time.Now().UnixNano(), f.forks)
}

// fork forks a live parent.
func (f *family) fork(b *testing.B, p *parent) (offer, child string) {
	b.Helper()
	cuts, offer, err := p.volumes.Cut(b.Context())
	try(b, err)
	return offer, f.commit(b, p, cuts)
}

// forkStored forks an archived one.
func (f *family) forkStored(b *testing.B, p *parent) (child string) {
	b.Helper()
	c, err := f.site.config(p.version, "")
	try(b, err)
	cuts, err := dataplane.CutStored(b.Context(), c)
	try(b, err)
	return f.commit(b, p, cuts)
}

func (f *family) commit(b *testing.B, p *parent, cuts map[string]branch.Cut) (child string) {
	b.Helper()
	child = f.name("c")
	c, err := f.site.config(child, p.version)
	try(b, err)
	parent := c.Ref
	parent.Version = p.version
	_, err = c.Branches.Fork(b.Context(), branch.Fork{Parent: parent, Child: c.Ref, ID: child, At: time.Now(), Cuts: cuts})
	try(b, err)
	return child
}
