package obs

import (
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	maxProjects   = 200     // projects with series of their own
	otherProjects = "other" // label of those beyond
)

// projectMetrics count by project. The first maxProjects projects that serve a request have
// series of their own.
type projectMetrics struct {
	requests, exceptions *prometheus.CounterVec

	other *projectSeries
	known sync.Map    // *projectSeries by project
	full  atomic.Bool // no project is added
	mu    sync.Mutex
	n     int // of known
}

// projectSeries holds the resolved series of one project.
type projectSeries struct {
	classes    [6]prometheus.Counter // by the first digit of the status; 0 for another one
	exceptions prometheus.Counter
}

func newProjectMetrics() *projectMetrics {
	p := &projectMetrics{
		requests:   counters("svc_gateway_project_requests_total", "Requests through the gateway by project, and class of status (2xx). Projects beyond the first 200 are one: other.", "project", "class"),
		exceptions: counters("svc_worker_exceptions_total", "Requests that ended because the worker threw, by project as in svc_gateway_project_requests_total.", "project"),
	}
	p.other = p.series(otherProjects)
	return p
}

// ProjectRequest counts a request to a version of a project. threw says that its worker
// ended it with an exception.
func (m *Metrics) ProjectRequest(project string, code int, threw bool) {
	s := m.projects.of(project)
	class := code / 100
	if class < 0 || class >= len(s.classes) {
		class = 0
	}
	s.classes[class].Inc()
	if threw {
		s.exceptions.Inc()
	}
}

// of returns the series of a project. It takes no lock for a known one.
func (p *projectMetrics) of(project string) *projectSeries {
	if s, ok := p.known.Load(project); ok {
		return s.(*projectSeries) //nolint:forcetypeassert // the only type in it
	}
	if p.full.Load() {
		return p.other
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if s, ok := p.known.Load(project); ok {
		return s.(*projectSeries) //nolint:forcetypeassert // the only type in it
	}
	if p.n == maxProjects {
		p.full.Store(true)
		return p.other
	}
	p.n++
	s := p.series(project)
	p.known.Store(project, s)
	return s
}

func (p *projectMetrics) series(label string) *projectSeries {
	s := &projectSeries{exceptions: p.exceptions.WithLabelValues(label)}
	for i := range s.classes {
		s.classes[i] = p.requests.WithLabelValues(label, strconv.Itoa(i)+"xx")
	}
	return s
}
