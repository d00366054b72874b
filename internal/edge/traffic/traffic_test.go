package traffic_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/edge/traffic"
	"github.com/svcctl/svcctl/internal/svc"
)

// TestSummary: requests in their samples, errors, quantiles, projects and the end of the
// window.
func TestSummary(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := traffic.New()
		one, two, other := svc.Ref{Project: "shop", Version: "v1"}, svc.Ref{Project: "shop", Version: "v2"}, svc.Ref{Project: "blog", Version: "v1"}
		for range 90 {
			r.Observe(one, traffic.Request{Status: 200, Duration: 3 * time.Millisecond, Bytes: 100})
		}
		time.Sleep(2 * traffic.Sample)
		for range 10 {
			r.Observe(one, traffic.Request{Status: 500, Duration: 150 * time.Millisecond, Threw: true})
		}
		r.Observe(two, traffic.Request{Status: 404, Duration: time.Minute, Bytes: 7})
		r.Observe(other, traffic.Request{Status: 200, Duration: time.Millisecond})
		s := r.Summary(15 * time.Second)
		if s.Window != 15*time.Second || s.Sample != traffic.Sample || len(s.Versions) != 3 {
			t.Errorf("got %+v", s)
		}
		v := s.Versions[one]
		if d := cmp.Diff(v, r.Version(one, 15*time.Second)); d != "" {
			t.Errorf("the version alone: %s", d)
		}
		if none := r.Version(svc.Ref{Project: "shop", Version: "v9"}, time.Minute); none.Requests != 0 {
			t.Errorf("an unknown version: %+v", none)
		}
		if v.Requests != 100 || v.Errors != 10 || v.P50 < 2*time.Millisecond || v.P50 > 5*time.Millisecond || v.P95 < 100*time.Millisecond || v.P95 > 200*time.Millisecond {
			t.Errorf("got %+v", v)
		}
		if diff := cmp.Diff([]int64{90, 0, 12}, s.Total.Samples) + cmp.Diff([]int64{0, 0, 10}, s.Projects["shop"].ErrorSamples); diff != "" {
			t.Error(diff)
		}
		if v.Bytes != 9000 || v.Exceptions != 10 || s.Projects["shop"].Bytes != 9007 || s.Total.Exceptions != 10 || s.Versions[two].Exceptions != 0 {
			t.Errorf("bytes and exceptions: %+v", s)
		}
		if p := s.Total.P95Samples; len(p) != 3 || p[0] > 5*time.Millisecond || p[1] != 0 || p[2] < 200*time.Millisecond || v.P95Samples != nil {
			t.Errorf("p95 of the samples: %v, of a version %v", p, v.P95Samples)
		}
		if got := s.Versions[two]; got.P95 != 30*time.Second || s.Projects["shop"].Requests != 101 {
			t.Errorf("got %+v", got)
		}
		time.Sleep(traffic.Longest)
		r.Forget(two)
		if s := r.Summary(time.Hour); s.Total.Requests != 0 || len(s.Versions) != 2 || s.Window != traffic.Longest-traffic.Sample {
			t.Errorf("later: %+v", s)
		}
	})
}

func BenchmarkObserve(b *testing.B) {
	r := traffic.New()
	for b.Loop() {
		r.Observe(svc.Ref{Project: "shop", Version: "v1"}, traffic.Request{Status: 200, Duration: 3 * time.Millisecond, Bytes: 100})
	}
}
