package obs

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// scrapeTime is how long reading the sources may take in one scrape.
const scrapeTime = 2 * time.Second

// Sources are read at each scrape. A nil one has no series; one that fails is
// left out of that scrape.
type Sources struct {
	QueueDepth        func(context.Context) (int, error)
	QueueMax          int
	Versions          func(context.Context) (map[string]int, error) // status -> number
	Runtimes          func() []Runtime
	GatewayInflight   func() int64
	GatewayWebsockets func() int64
}

// Runtime is a live version's process. A version that is gone has no series.
type Runtime struct {
	Project, Version string
	Up               bool
	RSSBytes         int64
}

// Watch adds s to what is scraped. Call it once. ctx bounds every read.
func (m *Metrics) Watch(ctx context.Context, s Sources) {
	perVersion := []string{"project", "version"}
	m.registry.MustRegister(&collector{
		ctx: func() (context.Context, context.CancelFunc) { return context.WithTimeout(ctx, scrapeTime) }, sources: s,
		depth:      prometheus.NewDesc("svc_deploy_queue_depth", "Deploys that wait or run.", nil, nil),
		limit:      prometheus.NewDesc("svc_deploy_queue_max", "Deploys the queue takes.", nil, nil),
		versions:   prometheus.NewDesc("svc_versions", "Versions by status.", []string{"status"}, nil),
		up:         prometheus.NewDesc("svc_runtime_up", "Whether a live version's runtime serves.", perVersion, nil),
		rss:        prometheus.NewDesc("svc_runtime_rss_bytes", "Memory of a live version's runtime.", perVersion, nil),
		inflight:   prometheus.NewDesc("svc_gateway_inflight", "Requests under way in the gateway.", nil, nil),
		websockets: prometheus.NewDesc("svc_gateway_websockets", "Open websockets of the gateway.", nil, nil),
	})
}

// collector turns Sources into series, anew at each scrape.
type collector struct {
	ctx                                                   func() (context.Context, context.CancelFunc)
	sources                                               Sources
	depth, limit, versions, up, rss, inflight, websockets *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.depth, c.limit, c.versions, c.up, c.rss, c.inflight, c.websockets} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := c.ctx()
	defer cancel()
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	s := c.sources
	if s.QueueDepth != nil {
		if n, err := s.QueueDepth(ctx); err == nil {
			gauge(c.depth, float64(n))
		}
		gauge(c.limit, float64(s.QueueMax))
	}
	if s.Versions != nil {
		if byStatus, err := s.Versions(ctx); err == nil {
			for status, n := range byStatus {
				gauge(c.versions, float64(n), status)
			}
		}
	}
	if s.Runtimes != nil {
		for _, r := range s.Runtimes() {
			up := 0.0
			if r.Up {
				up = 1
			}
			gauge(c.up, up, r.Project, r.Version)
			gauge(c.rss, float64(r.RSSBytes), r.Project, r.Version)
		}
	}
	if s.GatewayInflight != nil {
		gauge(c.inflight, float64(s.GatewayInflight()))
	}
	if s.GatewayWebsockets != nil {
		gauge(c.websockets, float64(s.GatewayWebsockets()))
	}
}
