package branch_test

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/svc"
)

// listed is a bucket with a long listing that costs nothing to make.
type listed struct {
	objstore.Bucket
	infos []objstore.Info
}

func (b *listed) List(_ context.Context, prefix, after string, limit int) ([]objstore.Info, error) {
	i, found := slices.BinarySearchFunc(b.infos, max(prefix, after), func(info objstore.Info, key string) int { return strings.Compare(info.Key, key) })
	if found && after != "" {
		i++
	}
	page := make([]objstore.Info, 0, limit)
	for ; i < len(b.infos) && len(page) < limit && strings.HasPrefix(b.infos[i].Key, prefix); i++ {
		info := b.infos[i]
		info.Key = strings.Clone(info.Key) // like a key from the network
		page = append(page, info)
	}
	return page, nil
}

// BenchmarkSweep sweeps a project of 100,000 objects of 20 versions. B/object is
// what its one survey holds in memory.
func BenchmarkSweep(b *testing.B) {
	const versions, each = 20, 5000
	store := &listed{Bucket: new(memstore.Bucket)}
	s, err := branch.New(branch.Config{Data: store, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	for v := range versions {
		name := fmt.Sprintf("v%02d", v)
		for n := range uint64(each) {
			f := branch.File{Prefix: branch.DatabasePrefix(ref(name), "database-main"), Min: n + 1, Max: n + 1}
			store.infos = append(store.infos, objstore.Info{Key: f.Key(), Size: 1000, ETag: "0123456789abcdef0123456789abcdef", Modified: time.Now()})
		}
		if _, err := s.Acquire(b.Context(), ref(name), svc.Owner{Node: "h", Session: "s"}, ""); err != nil {
			b.Fatal(err)
		}
		store.infos = append(store.infos, objstore.Info{Key: ref(name).String() + "/version.json", Size: 80})
	}
	if s, err = branch.New(branch.Config{Data: store, Logger: slog.New(slog.DiscardHandler)}); err != nil {
		b.Fatal(err)
	}
	before, held := heap(), uint64(0)
	registered := func(context.Context) (map[string]branch.Registered, error) {
		if held == 0 {
			b.StopTimer()
			held = heap() - before
			b.StartTimer()
		}
		return nil, nil
	}
	for b.Loop() {
		r, err := s.Sweep(b.Context(), "p", branch.SweepOptions{Registry: registered})
		if err != nil || len(r.Versions) != versions || r.Versions[0].Live.Objects != each {
			b.Fatal(err, r)
		}
	}
	b.ReportMetric(float64(held)/(versions*each), "B/object")
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
