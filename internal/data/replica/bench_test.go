package replica_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore/objstoretest"
	"github.com/svcctl/svcctl/internal/data/replica"
)

// grown is the log of a root with about mb MB: one import and 40 transactions after it.
func grown(b testing.TB, mb int) (*memstore.Bucket, replica.TXID) {
	b.Helper()
	const page = 4096
	mem, m := new(memstore.Bucket), newModel(uint64(mb))
	all := map[int]bool{}
	for i := range mb << 20 / page {
		p := make([]byte, page)
		for j := range page / 2 {
			p[j] = byte(m.rng.Uint32())
		}
		m.pages, all[i] = append(m.pages, p), true
	}
	l := open(b, mem, "v1", nil)
	must(b, l.Append(b.Context(), 1, encode(b, 1, m.pages, all)))
	for txid := replica.TXID(2); txid <= 41; txid++ {
		must(b, l.Append(b.Context(), txid, encode(b, txid, m.pages, map[int]bool{int(txid): true, 0: true})))
	}
	return mem, 41
}

func benchStores(b *testing.B, run func(*testing.B, *objstoretest.Faulty, replica.TXID)) {
	b.Helper()
	for _, mb := range []int{1, 100} {
		mem, txid := grown(b, mb)
		for _, latency := range []time.Duration{0, time.Millisecond, 20 * time.Millisecond} {
			b.Run(fmt.Sprintf("%dMB/%v", mb, latency), func(b *testing.B) {
				f := objstoretest.NewFaulty(mem, objstoretest.Faults{}, 1)
				f.Latency = latency
				run(b, f, txid)
				b.ReportMetric(float64(f.Puts.Load())/float64(b.N), "puts/op")
				b.ReportMetric(float64(f.Gets.Load()+f.Lists.Load()+f.Stats.Load())/float64(b.N), "reads/op")
				b.ReportMetric(float64(f.PutBytes.Load())/float64(b.N), "put-B/op")
				b.ReportMetric(float64(f.GotBytes.Load())/float64(b.N), "got-B/op")
			})
		}
	}
}

// BenchmarkFork measures the plan of an open log and the manifest.
func BenchmarkFork(b *testing.B) {
	benchStores(b, func(b *testing.B, f *objstoretest.Faulty, txid replica.TXID) {
		b.Helper()
		l, s := open(b, f, "v1", nil), newBranches(b, f, time.Hour)
		f.Lists.Store(0)
		f.Gets.Store(0)
		for i := 0; b.Loop(); i++ {
			cut, err := l.Cut(txid)
			must(b, err)
			child := fmt.Sprintf("v%d", time.Now().UnixNano())
			_, err = s.Fork(b.Context(), branch.Fork{Parent: ref("v1"), Child: ref(child), ID: child, At: time.Now(), Cuts: map[string]branch.Cut{"main": cut}})
			must(b, err)
		}
	})
}

// BenchmarkOpen measures a cold child up to its first page: manifest, log, plan, indexes,
// and one page.
func BenchmarkOpen(b *testing.B) {
	benchStores(b, func(b *testing.B, f *objstoretest.Faulty, txid replica.TXID) {
		b.Helper()
		s := newBranches(b, f, time.Hour)
		cut, err := open(b, f, "v1", nil).Cut(txid)
		must(b, err)
		child := fmt.Sprintf("w%d", time.Now().UnixNano())
		_, err = s.Fork(b.Context(), branch.Fork{Parent: ref("v1"), Child: ref(child), ID: child, At: time.Now(), Cuts: map[string]branch.Cut{"main": cut}})
		must(b, err)
		fam := &family{s, f}
		page := make([]byte, 4096)
		f.Lists.Store(0)
		f.Gets.Store(0)
		f.Puts.Store(0)
		f.GotBytes.Store(0)
		f.PutBytes.Store(0)
		for b.Loop() {
			l := fam.open(b, child)
			plan, err := l.Plan(l.Position())
			must(b, err)
			src, err := l.Source(b.Context(), plan, nil)
			must(b, err)
			must(b, src.ReadPages(b.Context(), 1, page))
		}
	})
}

// BenchmarkRestore writes the whole file.
func BenchmarkRestore(b *testing.B) {
	benchStores(b, func(b *testing.B, f *objstoretest.Faulty, txid replica.TXID) {
		b.Helper()
		l, path := open(b, f, "v1", nil), filepath.Join(b.TempDir(), "db")
		for b.Loop() {
			must(b, l.Restore(b.Context(), txid, path))
		}
	})
}
