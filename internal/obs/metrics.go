package obs

import (
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/svcctl/svcctl/internal/lib/buildinfo"
	"github.com/svcctl/svcctl/internal/svc"
)

// Metrics holds the program's counters and histograms [D31]. Gauges are read at each
// scrape: see Sources.
type Metrics struct {
	registry *prometheus.Registry

	deploys         *prometheus.CounterVec
	deploySteps     *prometheus.HistogramVec
	lenient         *prometheus.CounterVec
	promotes        *prometheus.CounterVec
	promoteTime     prometheus.Histogram
	promoteWindow   prometheus.Histogram
	releases        *prometheus.CounterVec
	releaseHeld     prometheus.Histogram
	lateWrites      prometheus.Counter
	wakeTime        prometheus.Histogram
	rouseTime       prometheus.Histogram
	pageOuts        *prometheus.CounterVec
	pagedOut        prometheus.Counter
	recycles        prometheus.Counter
	branchTime      prometheus.Histogram
	branchBytes     prometheus.Counter
	gc              gcMetrics
	janitors        *prometheus.CounterVec
	restarts        *prometheus.CounterVec
	launches        *prometheus.CounterVec
	webhooks        *prometheus.CounterVec
	hostEvents      *prometheus.CounterVec
	s3, s3Time      *prometheus.CounterVec
	events          *prometheus.CounterVec
	calls           *prometheus.CounterVec
	handshakes      *prometheus.CounterVec
	orders          *prometheus.CounterVec
	http            *prometheus.CounterVec
	gatewayRequests *prometheus.CounterVec
	gatewayTime     *prometheus.HistogramVec
	gateway         map[string]*gatewayRole
	projects        *projectMetrics
}

// gatewayRole holds the resolved series of one role, so that counting a request needs
// no lookup of labels.
type gatewayRole struct {
	time  prometheus.Observer
	codes [600]atomic.Pointer[prometheus.Counter]
}

// NewMetrics returns the metrics, including those of the process and the Go runtime.
func NewMetrics(b buildinfo.Build) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(), gateway: map[string]*gatewayRole{},
		deploys:     counters("svc_deploys_total", "Deploys that ended.", "result"),
		deploySteps: timings("svc_deploy_step_seconds", "Time of each deploy step.", stepBuckets(), "step"),
		lenient:     counters("svc_deploy_lenient_total", "Failed steps after which SVC_LENIENT_DEPLOY continued.", "step"),
		promotes:    counters("svc_promotes_total", "Promotions that ended.", "result"),
		promoteTime: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "svc_promote_seconds", Help: "Time of a promotion.", Buckets: stepBuckets(),
		}),
		releases: counters("svc_releases_total", "Releases that ended.", "result"),
		releaseHeld: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "svc_release_held_seconds", Help: "Longest wait of a request for a release.", Buckets: prometheus.ExponentialBuckets(0.01, 2, 14),
		}),
		lateWrites: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "svc_release_late_writes_total", Help: "Writes of the old version that a release refused.",
		}),
		promoteWindow: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "svc_promote_window_seconds", Buckets: prometheus.ExponentialBuckets(0.001, 2, 14),
			Help: "Time between the last answer of the old production and the first of the new one, of promotions that a request waited for.",
		}),
		wakeTime: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "svc_wake_seconds", Help: "Time of a wake until the version serves.", Buckets: stepBuckets(),
		}),
		pageOuts: counters("svc_pageouts_total", "Times that the memory of an idle version was moved to swap; way: of its processes, of their control group, or of the worker host alone.", "way"),
		pagedOut: prometheus.NewCounter(prometheus.CounterOpts{Name: "svc_paged_out_bytes_total", Help: "Memory of idle versions that was moved to swap."}),
		recycles: prometheus.NewCounter(prometheus.CounterOpts{Name: "svc_recycles_total", Help: "Idle versions whose processes were replaced for their memory."}),
		rouseTime: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "svc_sleep_start_seconds", Help: "Time of the start of a version that slept until it serves.", Buckets: stepBuckets(),
		}),
		branchTime: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "svc_branch_seconds", Help: "Time of a fork: the cut of the parent and the child's manifest.", Buckets: stepBuckets(),
		}),
		branchBytes: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "svc_branch_bytes_copied", Help: "Bytes of a parent's data that forks copied: none, a child names its parent's objects.",
		}),
		gc:              newGCMetrics(),
		janitors:        counters("svc_janitor_runs_total", "Runs of periodic maintenance tasks.", "janitor", "result"),
		restarts:        counters("svc_runtime_restarts_total", "Restarts of runtimes.", "reason"),
		webhooks:        counters("svc_webhook_tries_total", "Tries to send an event to a webhook.", "result"),
		launches:        counters("svc_runtime_launches_total", "Starts of worker hosts for versions; spare is true for those that were ready before.", "spare"),
		hostEvents:      counters("svc_host_events_total", "What happened to worker hosts on other machines, by event: claimed (a spare host got a version), lost (a host with a version was silent or crashed), moved (its machine stops), refused (a machine may not join).", "event"),
		s3:              counters("svc_s3_requests_total", "Requests to the object store.", "op", "result"),
		s3Time:          counters("svc_s3_request_seconds_total", "Time of requests to the object store until their responses began.", "op", "result"),
		calls:           counters("svc_service_calls_total", "Calls of workers to other workers that ended, by the code of their error; empty without one.", "code"),
		handshakes:      counters("svc_tls_handshakes_total", "TLS handshakes of visitors and clients, by result.", "result"),
		orders:          counters("svc_tls_orders_total", "Orders of certificates from an authority that ended, by result (ok, failed).", "result"),
		events:          counters("svc_worker_events_total", "Events of workers that ended, by handler (scheduled, queue, workflow).", "handler", "outcome"),
		http:            counters("svc_http_requests_total", "Requests to the API.", "route", "method", "code"),
		gatewayRequests: counters("svc_gateway_requests_total", "Requests through the gateway.", "role", "code"),
		gatewayTime:     timings("svc_gateway_request_seconds", "Time of a request through the gateway.", prometheus.DefBuckets, "role"),
	}
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "svc_build_info", Help: "The build that runs; always 1.",
		ConstLabels: prometheus.Labels{"version": b.Version, "commit": b.Commit, "go": b.Go},
	})
	info.Set(1)
	m.registry.MustRegister(
		info, m.deploys, m.deploySteps, m.lenient, m.promotes, m.promoteTime, m.promoteWindow, m.releases, m.releaseHeld, m.lateWrites, m.wakeTime, m.rouseTime, m.pageOuts, m.pagedOut, m.recycles, m.branchTime, m.branchBytes, m.janitors, m.restarts, m.launches, m.webhooks, m.hostEvents, m.s3, m.s3Time, m.calls, m.handshakes, m.orders, m.events, m.http, m.gatewayRequests, m.gatewayTime,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	m.registry.MustRegister(m.gc.all()...)
	m.projects = newProjectMetrics()
	m.registry.MustRegister(m.projects.requests, m.projects.exceptions)
	for _, result := range []string{"ready", "failed"} {
		m.deploys.WithLabelValues(result)
	}
	for _, result := range []string{"done", "failed", "unchanged"} {
		m.promotes.WithLabelValues(result)
	}
	for _, role := range []string{"preview", "production", ""} {
		m.gateway[role] = &gatewayRole{time: m.gatewayTime.WithLabelValues(role)}
	}
	return m
}

// stepBuckets reach from a warm start to a large download, in seconds.
func stepBuckets() []float64 { return prometheus.ExponentialBuckets(0.005, 2, 14) }

func counters(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

func timings(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
}

// Handler serves the metrics as text.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.registry, ErrorHandling: promhttp.ContinueOnError})
}

// DeployDone counts a deploy: result is "ready" or "failed".
func (m *Metrics) DeployDone(result string) { m.deploys.WithLabelValues(result).Inc() }

// StepDone times one step of a deploy.
func (m *Metrics) StepDone(step string, d time.Duration) {
	m.deploySteps.WithLabelValues(step).Observe(d.Seconds())
}

// StepTolerated counts a failed step after which lenient mode continued [D47].
func (m *Metrics) StepTolerated(step string) { m.lenient.WithLabelValues(step).Inc() }

// PromoteDone counts and times a promotion: result is its final status. One that is
// unchanged took no time and is only counted.
func (m *Metrics) PromoteDone(result string, d time.Duration) {
	m.promotes.WithLabelValues(result).Inc()
	if result != "unchanged" {
		m.promoteTime.Observe(d.Seconds())
	}
}

// CutOverDone times the window of a promotion, if it is known.
func (m *Metrics) CutOverDone(c svc.CutOver) {
	if c.Window > 0 {
		m.promoteWindow.Observe(c.Window.Seconds())
	}
}

// ReleaseDone counts a release, "done" or "failed", times its hold, if it is known, and counts the
// writes that it refused.
func (m *Metrics) ReleaseDone(result string, held time.Duration, lateWrites int) {
	m.releases.WithLabelValues(result).Inc()
	if held > 0 {
		m.releaseHeld.Observe(held.Seconds())
	}
	m.lateWrites.Add(float64(lateWrites))
}

// RouseDone times the start of a version that slept.
func (m *Metrics) RouseDone(d time.Duration) { m.rouseTime.Observe(d.Seconds()) }

// PagedOut counts the memory of an idle version that was moved to swap.
func (m *Metrics) PagedOut(p svc.PagedOut) {
	m.pageOuts.WithLabelValues(string(p.Way)).Inc()
	m.pagedOut.Add(float64(p.Bytes))
}

// Recycled counts an idle version that got new processes for its memory.
func (m *Metrics) Recycled() { m.recycles.Inc() }

// WakeDone times a successful wake.
func (m *Metrics) WakeDone(d time.Duration) { m.wakeTime.Observe(d.Seconds()) }

// BranchDone times a fork.
func (m *Metrics) BranchDone(d time.Duration) { m.branchTime.Observe(d.Seconds()) }

// RuntimeLaunched counts a worker host that opened a version.
func (m *Metrics) RuntimeLaunched(spare bool) {
	m.launches.WithLabelValues(strconv.FormatBool(spare)).Inc()
}

// WebhookTried counts a try to send an event to a webhook: "delivered" or "failed".
func (m *Metrics) WebhookTried(result string) { m.webhooks.WithLabelValues(result).Inc() }

// HostEvent counts what happened to a worker host on another machine.
func (m *Metrics) HostEvent(event string) { m.hostEvents.WithLabelValues(event).Inc() }

// RuntimeRestarted counts a restart of a runtime.
func (m *Metrics) RuntimeRestarted(reason string) { m.restarts.WithLabelValues(reason).Inc() }

// S3Requests counts and times requests to the object store.
func (m *Metrics) S3Requests(r svc.RequestCount) {
	m.s3.WithLabelValues(r.Op, r.Result).Add(float64(r.N))
	m.s3Time.WithLabelValues(r.Op, r.Result).Add(r.Took.Seconds())
}

// EventsDone counts n events of workers that ended: scheduled runs, deliveries of queues.
func (m *Metrics) EventsDone(handler, outcome string, n int) {
	m.events.WithLabelValues(handler, outcome).Add(float64(n))
}

// CallDone counts a call of a worker to another worker. code is that of its error, "" for
// none.
func (m *Metrics) CallDone(code string) { m.calls.WithLabelValues(code).Inc() }

// Handshake counts a TLS handshake.
func (m *Metrics) Handshake(result string) { m.handshakes.WithLabelValues(result).Inc() }

// CertificateOrder counts an order of a certificate.
func (m *Metrics) CertificateOrder(result string) { m.orders.WithLabelValues(result).Inc() }

// HTTPRequest counts a request to the API. route is a path pattern.
func (m *Metrics) HTTPRequest(route, method string, code int) {
	m.http.WithLabelValues(route, method, strconv.Itoa(code)).Inc()
}

// GatewayRequest counts and times a request through the gateway. role is
// "preview", "production", or "" for an unknown host name. It takes no lock.
func (m *Metrics) GatewayRequest(role string, code int, d time.Duration) {
	g, ok := m.gateway[role]
	if !ok || code < 0 || code >= len(g.codes) {
		g, role, code = m.gateway[""], "", 0
	}
	g.time.Observe(d.Seconds())
	c := g.codes[code].Load()
	if c == nil {
		resolved := m.gatewayRequests.WithLabelValues(role, strconv.Itoa(code))
		c = &resolved
		g.codes[code].Store(c)
	}
	(*c).Inc()
}
