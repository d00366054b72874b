package obs

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// gcMetrics are those of the garbage collection of the object store. A time of
// 0 says that it has not happened since the start.
type gcMetrics struct {
	objects, bytes   prometheus.Counter
	pinned, problems prometheus.Gauge
	sweepAt, auditAt prometheus.Gauge
}

func newGCMetrics() gcMetrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	}
	return gcMetrics{
		objects:  counter("svc_gc_deleted_objects_total", "Objects that were deleted because nobody needs them."),
		bytes:    counter("svc_gc_deleted_bytes_total", "Their size."),
		pinned:   gauge("svc_gc_pinned_bytes", "Objects that their own version does not need and others do."),
		problems: gauge("svc_gc_audit_problems", "What the last audit of the object store found wrong."),
		sweepAt:  gauge("svc_gc_last_sweep_timestamp_seconds", "When every project was swept without an error."),
		auditAt:  gauge("svc_gc_last_audit_timestamp_seconds", "When every project was audited."),
	}
}

func (g gcMetrics) all() []prometheus.Collector {
	return []prometheus.Collector{g.objects, g.bytes, g.pinned, g.problems, g.sweepAt, g.auditAt}
}

// GCDeleted counts objects that were deleted.
func (m *Metrics) GCDeleted(objects int, bytes int64) {
	m.gc.objects.Add(float64(objects))
	m.gc.bytes.Add(float64(bytes))
}

// GCSweepDone notes a sweep of all projects.
func (m *Metrics) GCSweepDone(pinnedBytes int64, at time.Time) {
	m.gc.pinned.Set(float64(pinnedBytes))
	m.gc.sweepAt.Set(seconds(at))
}

// GCAuditDone notes an audit of all projects.
func (m *Metrics) GCAuditDone(problems int, at time.Time) {
	m.gc.problems.Set(float64(problems))
	m.gc.auditAt.Set(seconds(at))
}

func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }
