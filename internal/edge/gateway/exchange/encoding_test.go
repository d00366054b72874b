package exchange

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/svcctl/svcctl/internal/edge/http1"
)

// TestCompressorsAreBounded checks that a response beyond the limit is not compressed.
func TestCompressorsAreBounded(t *testing.T) {
	t.Parallel()
	var p compressors
	var all []*Compressor
	for range maxCompressors {
		all = append(all, p.get(http1.Gzip))
	}
	if p.get(http1.Gzip) != nil {
		t.Error("there is no limit")
	}
	for _, c := range all {
		p.put(c)
	}
	if p.get(http1.Zstandard) == nil || len(p.free[http1.Gzip]) != keptCompressors {
		t.Errorf("%d are kept", len(p.free[http1.Gzip]))
	}
}

// BenchmarkCompress measures the cost of 10 KB of JSON.
func BenchmarkCompress(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	var body []byte
	for len(body) < 10<<10 {
		body = fmt.Appendf(body, `{"id": %d, "name": "the name of %x", "tags": ["one", "%d"], "price": %.2f},`, random.IntN(1e6), random.Uint32(), random.IntN(100), 100*random.Float64())
	}
	for e := http1.Gzip; e < http1.Encodings; e++ {
		b.Run(e.String(), func(b *testing.B) {
			var p compressors
			b.ReportAllocs()
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				c := p.get(e)
				if err := c.Add(body, true, true); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(c.Out.Len()), "bytes")
				p.put(c)
			}
		})
	}
}
