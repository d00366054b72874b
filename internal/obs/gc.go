package obs

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// gcMetrics are the metrics of garbage collection. A time of 0 means not since the
// start.
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
		objects:  counter("svc_gc_deleted_objects_total", "Unneeded objects that garbage collection deleted."),
		bytes:    counter("svc_gc_deleted_bytes_total", "Size of the unneeded objects that garbage collection deleted."),
		pinned:   gauge("svc_gc_pinned_bytes", "Size of objects that their own version does not need and other versions do."),
		problems: gauge("svc_gc_audit_problems", "Problems that the last audit of the object store found."),
		sweepAt:  gauge("svc_gc_last_sweep_timestamp_seconds", "Time of the last sweep of all projects without an error; 0 if none since the start."),
		auditAt:  gauge("svc_gc_last_audit_timestamp_seconds", "Time of the last audit of all projects; 0 if none since the start."),
	}
}

func (g gcMetrics) all() []prometheus.Collector {
	return []prometheus.Collector{g.objects, g.bytes, g.pinned, g.problems, g.sweepAt, g.auditAt}
}

// JanitorDone counts a run of a janitor.
func (m *Metrics) JanitorDone(name string, failed bool) {
	result := "done"
	if failed {
		result = "failed"
	}
	m.janitors.WithLabelValues(name, result).Inc()
}

// GCDeleted counts deleted objects.
func (m *Metrics) GCDeleted(objects int, bytes int64) {
	m.gc.objects.Add(float64(objects))
	m.gc.bytes.Add(float64(bytes))
}

// GCSweepDone records a sweep of all projects.
func (m *Metrics) GCSweepDone(pinnedBytes int64, at time.Time) {
	m.gc.pinned.Set(float64(pinnedBytes))
	m.gc.sweepAt.Set(seconds(at))
}

// GCAuditDone records an audit of all projects.
func (m *Metrics) GCAuditDone(problems int, at time.Time) {
	m.gc.problems.Set(float64(problems))
	m.gc.auditAt.Set(seconds(at))
}

func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }
