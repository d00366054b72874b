package janitor

import "time"

const auditEvery = 24 * time.Hour

// Audit returns the task that audits all projects: soon after the first sweep, then
// every day. A failed audit is retried after sweepEvery.
func Audit(c Collector, sweepEvery time.Duration) Task {
	return Task{Name: "audit", Every: auditEvery, First: min(firstSweep, sweepEvery) * 3 / 2, Retry: sweepEvery, RunOnce: c.AuditAll}
}
