package gateway

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func TestAccepted(t *testing.T) {
	t.Parallel()
	for field, want := range map[string]string{
		"": "identity", "gzip": "gzip", "GZip": "gzip", "x-gzip": "gzip", "br": "br", "zstd": "zstd", "gzip, deflate, br, zstd": "zstd", "gzip,br": "br",
		"zstd;q=0.5, br;q=0.8, gzip;q=0.8": "br", "gzip;q=1.0, br;q=0.9": "gzip", "br;q=0, gzip": "gzip", "gzip;q=0": "identity",
		"*": "gzip", "*;q=0": "identity", "gzip;q=0, *": "identity", "br, *;q=0.1": "br", "identity": "identity", "deflate": "identity",
		"gzip;q=x": "identity", "gzip;q=2": "identity", "gzip;q=-1": "identity", "gzip;q=NaN": "identity", " ; , ,gzip ; q=0.001": "gzip", "gzipped": "identity",
	} {
		if got := encodingNames[accepted([]byte(field))]; got != want {
			t.Errorf("%q: %s, want %s", field, got, want)
		}
	}
}

// TestCompressorsAreBounded checks that a response beyond the limit is not compressed.
func TestCompressorsAreBounded(t *testing.T) {
	t.Parallel()
	var p compressors
	var all []*compressor
	for range maxCompressors {
		all = append(all, p.get(gzipped))
	}
	if p.get(gzipped) != nil {
		t.Error("there is no limit")
	}
	for _, c := range all {
		p.put(c)
	}
	if p.get(zstandard) == nil || len(p.free[gzipped]) != keptCompressors {
		t.Errorf("%d are kept", len(p.free[gzipped]))
	}
}

// BenchmarkCompress measures the cost of 10 KB of JSON.
func BenchmarkCompress(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	var body []byte
	for len(body) < 10<<10 {
		body = fmt.Appendf(body, `{"id": %d, "name": "the name of %x", "tags": ["one", "%d"], "price": %.2f},`, random.IntN(1e6), random.Uint32(), random.IntN(100), 100*random.Float64())
	}
	for e := gzipped; e < encodings; e++ {
		b.Run(encodingNames[e], func(b *testing.B) {
			var p compressors
			b.ReportAllocs()
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				c := p.get(e)
				if err := c.add(body, true, true); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(c.out.Len()), "bytes")
				p.put(c)
			}
		})
	}
}
