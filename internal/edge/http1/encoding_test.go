package http1_test

import (
	"testing"

	"github.com/svcctl/svcctl/internal/edge/http1"
)

func TestAccepted(t *testing.T) {
	t.Parallel()
	for field, want := range map[string]string{
		"": "identity", "gzip": "gzip", "GZip": "gzip", "x-gzip": "gzip", "br": "br", "zstd": "zstd", "gzip, deflate, br, zstd": "zstd", "gzip,br": "br",
		"zstd;q=0.5, br;q=0.8, gzip;q=0.8": "br", "gzip;q=1.0, br;q=0.9": "gzip", "br;q=0, gzip": "gzip", "gzip;q=0": "identity",
		"*": "gzip", "*;q=0": "identity", "gzip;q=0, *": "identity", "br, *;q=0.1": "br", "identity": "identity", "deflate": "identity",
		"gzip;q=x": "identity", "gzip;q=2": "identity", "gzip;q=-1": "identity", "gzip;q=NaN": "identity", " ; , ,gzip ; q=0.001": "gzip", "gzipped": "identity",
	} {
		if got := http1.Accepted([]byte(field)).String(); got != want {
			t.Errorf("%q: %s, want %s", field, got, want)
		}
	}
}
