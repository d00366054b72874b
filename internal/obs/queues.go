package obs

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/svcctl/svcctl/internal/svc"
)

// queueDescs are the metrics of the queues of versions that serve.
type queueDescs struct{ backlog, oldest, deliveries *prometheus.Desc }

func newQueueDescs() queueDescs {
	labels := []string{"project", "version", "queue"}
	return queueDescs{
		backlog:    prometheus.NewDesc("svc_queue_backlog", "Messages of a live version's queue.", labels, nil),
		oldest:     prometheus.NewDesc("svc_queue_oldest_seconds", "Age of the oldest message of a live version's queue; 0 without messages.", labels, nil),
		deliveries: prometheus.NewDesc("svc_queue_deliveries_total", "Batches that a live version received, by outcome.", append(labels, "outcome"), nil),
	}
}

func (q queueDescs) describe(out chan<- *prometheus.Desc) {
	out <- q.backlog
	out <- q.oldest
	out <- q.deliveries
}

func (q queueDescs) collect(out chan<- prometheus.Metric, all map[svc.Ref][]svc.QueueStatus) {
	for ref, list := range all {
		for _, s := range list {
			labels := []string{ref.Project, ref.Version, s.Name}
			age := 0.0
			if s.Oldest != 0 {
				age = max(0, time.Since(time.UnixMilli(s.Oldest)).Seconds())
			}
			out <- prometheus.MustNewConstMetric(q.backlog, prometheus.GaugeValue, float64(s.Backlog), labels...)
			out <- prometheus.MustNewConstMetric(q.oldest, prometheus.GaugeValue, age, labels...)
			for outcome, n := range s.Deliveries {
				out <- prometheus.MustNewConstMetric(q.deliveries, prometheus.CounterValue, float64(n), append(labels, string(outcome))...)
			}
		}
	}
}
