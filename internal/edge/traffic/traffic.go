package traffic

import (
	"maps"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

const (
	// Sample is the length of a sample.
	Sample = 5 * time.Second
	// Longest is the longest window.
	Longest = samples * Sample
	samples = 120
)

// bounds are the upper ends of the histogram's parts; the last part has none.
//
//nolint:gochecknoglobals // a constant list
var bounds = [...]time.Duration{
	time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second,
}

// Recorder counts requests. Make it with New.
type Recorder struct {
	began time.Time

	mu       sync.RWMutex
	versions map[svc.Ref]*series
}

// series is a ring of samples of one version.
type series struct {
	last atomic.Int64 // number of the newest sample
	mu   sync.Mutex
	ring [samples]sample
}

// sample is what happened in one part of the time.
type sample struct {
	at            int64 // its number, from 1; 0 for none
	bytes         int64
	errors, threw uint32
	parts         [len(bounds) + 1]uint32
}

// Request is a request that ended.
type Request struct {
	Status   int
	Duration time.Duration
	Bytes    int64 // of the response's body, as sent
	Threw    bool  // the worker threw and did not answer
}

// New returns a Recorder without requests.
func New() *Recorder { return &Recorder{began: time.Now(), versions: map[svc.Ref]*series{}} }

// number returns the number of the sample of a time.
func (r *Recorder) number(at time.Time) int64 { return int64(at.Sub(r.began)/Sample) + 1 }

// Observe counts a request that ended now.
func (r *Recorder) Observe(ref svc.Ref, o Request) {
	n := r.number(time.Now())
	s := r.series(ref, n)
	part := sort.Search(len(bounds), func(i int) bool { return o.Duration <= bounds[i] })
	s.last.Store(n)
	s.mu.Lock()
	defer s.mu.Unlock()
	at := &s.ring[n%samples]
	if at.at != n {
		*at = sample{at: n}
	}
	at.parts[part]++
	at.bytes += o.Bytes
	if o.Status >= 500 {
		at.errors++
	}
	if o.Threw {
		at.threw++
	}
}

// series returns the counts of a version. A new version replaces those without a recent
// request, which may be of versions whose last request ended after Forget.
func (r *Recorder) series(ref svc.Ref, now int64) *series {
	r.mu.RLock()
	s := r.versions[ref]
	r.mu.RUnlock()
	if s != nil {
		return s
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if s = r.versions[ref]; s == nil {
		maps.DeleteFunc(r.versions, func(_ svc.Ref, s *series) bool { return s.last.Load() < now-samples })
		s = &series{}
		s.last.Store(now)
		r.versions[ref] = s
	}
	return s
}

// Forget drops the counts of a version that no longer serves.
func (r *Recorder) Forget(ref svc.Ref) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.versions, ref)
}

// Summary returns the requests of a window until now, which is at most Longest and is
// rounded up to whole samples.
func (r *Recorder) Summary(window time.Duration) svc.TrafficSummary {
	n := int64(min(max((window+Sample-1)/Sample, 1), samples-1))
	now := r.number(time.Now())
	out := svc.TrafficSummary{Window: time.Duration(n) * Sample, Sample: Sample, Projects: map[string]svc.Traffic{}, Versions: map[svc.Ref]svc.Traffic{}}
	total, projects := newTally(n), map[string]*tally{}
	all := make([]histogram, n)
	r.mu.RLock()
	defer r.mu.RUnlock()
	for ref, s := range r.versions {
		one := newTally(n)
		s.add(one, all, now)
		if projects[ref.Project] == nil {
			projects[ref.Project] = newTally(n)
		}
		projects[ref.Project].merge(one)
		total.merge(one)
		out.Versions[ref] = one.traffic()
	}
	for id, t := range projects {
		out.Projects[id] = t.traffic()
	}
	out.Total = total.traffic()
	out.Total.P95Samples = make([]time.Duration, n)
	for i := range all {
		out.Total.P95Samples[i] = all[i].quantile(out.Total.Samples[i], 0.95)
	}
	return out
}

// Version returns the requests of one version in a window until now, which is at most Longest and
// is rounded up to whole samples.
func (r *Recorder) Version(ref svc.Ref, window time.Duration) svc.Traffic {
	n := int64(min(max((window+Sample-1)/Sample, 1), samples-1))
	t := newTally(n)
	r.mu.RLock()
	s := r.versions[ref]
	r.mu.RUnlock()
	if s != nil {
		s.add(t, make([]histogram, n), r.number(time.Now()))
	}
	return t.traffic()
}

// add adds the samples until now, as many as all has, to a tally and to the histograms of all.
func (s *series) add(t *tally, all []histogram, now int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := int64(len(all))
	for i := range n {
		at := now - n + 1 + i
		if at < 1 || s.ring[at%samples].at != at {
			continue
		}
		one := s.ring[at%samples]
		t.failed[i] += int64(one.errors)
		t.threw += int64(one.threw)
		t.bytes += one.bytes
		for p, c := range one.parts {
			t.parts[p] += int64(c)
			all[i][p] += int64(c)
			t.requests[i] += int64(c)
		}
	}
}
