package traffic

import (
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// tally adds up samples.
type tally struct {
	requests, failed []int64
	threw, bytes     int64
	parts            histogram
}

// histogram has the number of requests by their duration.
type histogram [len(bounds) + 1]int64

func newTally(n int64) *tally { return &tally{requests: make([]int64, n), failed: make([]int64, n)} }

func (t *tally) merge(o *tally) {
	for i := range t.requests {
		t.requests[i] += o.requests[i]
		t.failed[i] += o.failed[i]
	}
	for i := range t.parts {
		t.parts[i] += o.parts[i]
	}
	t.threw += o.threw
	t.bytes += o.bytes
}

func (t *tally) traffic() svc.Traffic {
	out := svc.Traffic{Samples: t.requests, ErrorSamples: t.failed, Exceptions: t.threw, Bytes: t.bytes}
	for i := range t.requests {
		out.Requests += t.requests[i]
		out.Errors += t.failed[i]
	}
	out.P50, out.P95 = t.parts.quantile(out.Requests, 0.5), t.parts.quantile(out.Requests, 0.95)
	return out
}

// quantile returns the duration that a part q of all requests did not exceed, by
// interpolation within a part of the histogram.
func (h *histogram) quantile(all int64, q float64) time.Duration {
	rank, seen := q*float64(all), 0.0
	for i, c := range h {
		if c == 0 || seen+float64(c) < rank {
			seen += float64(c)
			continue
		}
		var from time.Duration
		if i > 0 {
			from = bounds[i-1]
		}
		if i == len(bounds) {
			return from
		}
		return from + time.Duration((rank-seen)/float64(c)*float64(bounds[i]-from))
	}
	return 0
}
