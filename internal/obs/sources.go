package obs

import (
	"context"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/svcctl/svcctl/internal/lib/machine"
	"github.com/svcctl/svcctl/internal/svc"
)

// scrapeTime is the time limit for reading the sources in one scrape.
const scrapeTime = 2 * time.Second

// Sources are read at each scrape. A nil source has no series; one that fails is
// omitted from that scrape.
type Sources struct {
	QueueDepth        func(context.Context) (int, error)
	QueueMax          int
	Versions          func(context.Context) (map[svc.Status]int, error)
	Runtimes          func() []svc.Runtime                                // a version without one has no series
	Asleep            func() int                                          // versions that sleep
	NotServing        func() int                                          // ready versions whose runtime crashed or did not start
	Queues            func(context.Context) map[svc.Ref][]svc.QueueStatus // of versions that serve
	Spares            func() int                                          // worker hosts that wait for a version
	Certificates      func(context.Context) ([]svc.Certificate, error)    // of https
	Orders            func() []svc.CertificateOrder                       // of certificates
	Tokens            func() *svc.TokensTrouble                           // of SVC_TOKENS_FILE; nil for a file that can be read
	SecretKeys        func(context.Context) (map[string]int, error)       // sealed values by key
	Disk              func() (machine.Disk, error)                        // of the data directory
	GatewayInflight   func() int64
	GatewayWebsockets func() int64
	GatewayConns      func() int64
}

// Watch adds the gauges of s. Call it once. ctx bounds every read.
func (m *Metrics) Watch(ctx context.Context, s Sources) {
	perVersion := []string{"project", "version"}
	m.registry.MustRegister(&collector{
		ctx: func() (context.Context, context.CancelFunc) { return context.WithTimeout(ctx, scrapeTime) }, sources: s,
		depth:      prometheus.NewDesc("svc_deploy_queue_depth", "Deploys that wait or run.", nil, nil),
		limit:      prometheus.NewDesc("svc_deploy_queue_max", "Limit of deploys that wait or run.", nil, nil),
		versions:   prometheus.NewDesc("svc_versions", "Versions by status.", []string{"status"}, nil),
		up:         prometheus.NewDesc("svc_runtime_up", "Whether a live version's runtime serves.", perVersion, nil),
		rss:        prometheus.NewDesc("svc_runtime_rss_bytes", "Memory of a live version's runtime.", perVersion, nil),
		fds:        prometheus.NewDesc("svc_runtime_open_fds", "Open file descriptors of a live version's runtime.", perVersion, nil),
		cpu:        prometheus.NewDesc("svc_runtime_cpu_seconds_total", "Processor time that a live version's runtime has used; 0 again after its restart.", perVersion, nil),
		restarts:   prometheus.NewDesc("svc_runtime_restarts", "Crashes of a live version's runtime since the version was started or woken.", perVersion, nil),
		behind:     prometheus.NewDesc("svc_data_behind_seconds", "Age of a live version's oldest write that is not in the object store.", perVersion, nil),
		diskSize:   prometheus.NewDesc("svc_disk_size_bytes", "Size of the disk with the data directory.", nil, nil),
		diskFree:   prometheus.NewDesc("svc_disk_free_bytes", "Room on the disk with the data directory.", nil, nil),
		tallies:    prometheus.NewDesc("svc_binding_items", "What a live version's bindings hold, by state: instances of a workflow.", append(perVersion, "kind", "resource", "state"), nil),
		notServing: prometheus.NewDesc("svc_versions_not_serving", "Ready versions that do not serve because their runtime crashed or did not start.", nil, nil),
		asleep:     prometheus.NewDesc("svc_versions_asleep", "Ready versions without processes because nothing asks for them (SVC_SLEEP_IDLE).", nil, nil),
		spares:     prometheus.NewDesc("svc_spare_hosts", "Worker hosts that wait for the next version to start.", nil, nil),
		queues:     newQueueDescs(),
		firstEnd:   prometheus.NewDesc("svc_tls_first_expiry_timestamp_seconds", "Time at which the first certificate in a file of SVC_TLS_CERT ends.", nil, nil),
		orders:     prometheus.NewDesc("svc_tls_orders", "Orders of certificates by state: waiting, running, or failed and not repeated.", []string{"state"}, nil),
		tokens:     prometheus.NewDesc("svc_tokens_file_valid", "Whether SVC_TOKENS_FILE can be read; without it there is no series.", nil, nil),
		sealed:     prometheus.NewDesc("svc_secrets_sealed", "Values of secrets, earlier ones included, by the key that sealed them.", []string{"key"}, nil),
		inflight:   prometheus.NewDesc("svc_gateway_inflight", "Requests in flight in the gateway.", nil, nil),
		conns:      prometheus.NewDesc("svc_gateway_connections", "Open connections of clients to the gateway.", nil, nil),
		websockets: prometheus.NewDesc("svc_gateway_websockets", "Open websockets of the gateway.", nil, nil),
	})
}

// collector reads Sources at each scrape.
type collector struct {
	ctx                    func() (context.Context, context.CancelFunc)
	sources                Sources
	depth, limit, versions *prometheus.Desc
	up, rss, fds, restarts *prometheus.Desc
	cpu                    *prometheus.Desc
	notServing, tallies    *prometheus.Desc
	behind                 *prometheus.Desc
	diskSize, diskFree     *prometheus.Desc
	asleep                 *prometheus.Desc
	spares                 *prometheus.Desc
	queues                 queueDescs
	firstEnd, orders       *prometheus.Desc
	tokens, sealed         *prometheus.Desc
	inflight, websockets   *prometheus.Desc
	conns                  *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.depth, c.limit, c.versions, c.up, c.rss, c.cpu, c.fds, c.restarts, c.behind, c.diskSize, c.diskFree, c.tallies, c.notServing, c.asleep, c.spares, c.firstEnd, c.orders, c.tokens, c.sealed, c.inflight, c.websockets, c.conns} {
		out <- d
	}
	c.queues.describe(out)
}

// collectTokens says whether the file of tokens is valid.
func (c *collector) collectTokens(gauge func(*prometheus.Desc, float64, ...string)) {
	if c.sources.Tokens == nil {
		return
	}
	valid := 1.0
	if c.sources.Tokens() != nil {
		valid = 0
	}
	gauge(c.tokens, valid)
}

// collectSecrets counts the sealed values by key.
func (c *collector) collectSecrets(ctx context.Context, gauge func(*prometheus.Desc, float64, ...string)) {
	if c.sources.SecretKeys == nil {
		return
	}
	counts, err := c.sources.SecretKeys(ctx)
	if err != nil {
		return
	}
	for key, n := range counts {
		gauge(c.sealed, float64(n), key)
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
				gauge(c.versions, float64(n), string(status))
			}
		}
	}
	if s.Runtimes != nil {
		for _, r := range s.Runtimes() {
			if r.State == svc.RuntimeStopped {
				continue
			}
			up := 0.0
			if r.State == svc.RuntimeServing {
				up = 1
			}
			gauge(c.up, up, r.Ref.Project, r.Ref.Version)
			gauge(c.rss, float64(r.RSSBytes), r.Ref.Project, r.Ref.Version)
			out <- prometheus.MustNewConstMetric(c.cpu, prometheus.CounterValue, r.CPU.Seconds(), r.Ref.Project, r.Ref.Version)
			gauge(c.fds, float64(r.Descriptors), r.Ref.Project, r.Ref.Version)
			gauge(c.restarts, float64(r.Restarts), r.Ref.Project, r.Ref.Version)
			gauge(c.behind, r.Behind.Seconds(), r.Ref.Project, r.Ref.Version)
			for _, t := range r.Tallies {
				gauge(c.tallies, float64(t.Count), r.Ref.Project, r.Ref.Version, t.Kind, t.Resource, t.State)
			}
		}
	}
	if s.Queues != nil {
		c.queues.collect(out, s.Queues(ctx))
	}
	c.collectTLS(ctx, gauge)
	if s.Disk != nil {
		if disk, err := s.Disk(); err == nil {
			gauge(c.diskSize, float64(disk.Total))
			gauge(c.diskFree, float64(disk.Free))
		}
	}
	c.collectTokens(gauge)
	c.collectSecrets(ctx, gauge)
	if s.NotServing != nil {
		gauge(c.notServing, float64(s.NotServing()))
	}
	if s.Asleep != nil {
		gauge(c.asleep, float64(s.Asleep()))
	}
	if s.Spares != nil {
		gauge(c.spares, float64(s.Spares()))
	}
	if s.GatewayInflight != nil {
		gauge(c.inflight, float64(s.GatewayInflight()))
	}
	if s.GatewayWebsockets != nil {
		gauge(c.websockets, float64(s.GatewayWebsockets()))
	}
	if s.GatewayConns != nil {
		gauge(c.conns, float64(s.GatewayConns()))
	}
}

// collectTLS reports the certificates of https and the orders of more.
func (c *collector) collectTLS(ctx context.Context, gauge func(*prometheus.Desc, float64, ...string)) {
	s := c.sources
	if s.Certificates != nil {
		if list, err := s.Certificates(ctx); err == nil {
			firstExpiry(list, func(at time.Time) { gauge(c.firstEnd, float64(at.Unix())) })
		}
	}
	if s.Orders != nil {
		for state, n := range orderCounts(s.Orders()) {
			gauge(c.orders, float64(n), string(state))
		}
	}
}

// firstExpiry reports the time at which the first certificate in a file ends. Ordered ones are
// renewed when their hosts are used.
func firstExpiry(list []svc.Certificate, report func(time.Time)) {
	list = slices.DeleteFunc(list, func(c svc.Certificate) bool { return c.Ordered })
	if len(list) > 0 {
		report(slices.MinFunc(list, func(a, b svc.Certificate) int { return a.NotAfter.Compare(b.NotAfter) }).NotAfter)
	}
}

// orderCounts counts orders by state, those without any included.
func orderCounts(orders []svc.CertificateOrder) map[svc.OrderState]int {
	counts := map[svc.OrderState]int{svc.OrderWaiting: 0, svc.OrderRunning: 0, svc.OrderFailed: 0}
	for _, o := range orders {
		counts[o.State]++
	}
	return counts
}
