//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/svcctl/svcctl/pkg/api"
)

// rows is what writers sent and saw accepted. Each row is sent once.
type rows struct {
	mu    sync.Mutex
	tried map[string]bool
	by    map[string]string // the version that accepted a row
}

func newRows() rows { return rows{tried: map[string]bool{}, by: map[string]string{}} }

// next is a row that was never sent.
func (r *rows) next() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	row := fmt.Sprint("row-", len(r.tried))
	r.tried[row] = true
	return row
}

// traffic writes rows to production and to the versions of the tasks until it is ended.
func (m *modelRun) traffic(tasks []task) (end func()) {
	stop := make(chan struct{})
	var all sync.WaitGroup
	quiet := false
	for _, task := range tasks {
		quiet = quiet || task.quiet && slices.Contains(m.prod, task.on[0].id)
		for i, v := range task.on {
			fails := task.fails && i == 0
			if v.url != "" && !task.quiet && (fails || v.status[0] == api.VersionStatusReady) {
				all.Go(func() { m.write(stop, v.url, v, fails) })
			}
		}
	}
	if !quiet {
		all.Go(func() { m.write(stop, m.prodURL, nil, false) })
	}
	return func() { close(stop); all.Wait() }
}

// write adds rows at an address, that of production without a version. Requests fail if
// fails says so, in a step with a fault, and in a calm run.
func (m *modelRun) write(stop <-chan struct{}, url string, v *modeled, fails bool) {
	c := m.http()
	for {
		row := m.rows.next()
		a, err := fetch(m.t.Context(), c, http.MethodPost, url+"/add", row)
		switch {
		case err == nil && a.Status == http.StatusOK:
			m.accepted(row, a.Body, v)
		case !fails && !m.disturbed && !m.calm:
			m.t.Errorf("a request to %s without a fault: %d %s %q, %v", url, a.Status, a.Header.Get("Svc-Error"), a.Body, err)
		}
		select {
		case <-stop:
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// accepted notes a row that a version accepted.
func (m *modelRun) accepted(row, version string, at *modeled) {
	v := m.versions[version]
	if v == nil || at != nil && at != v {
		m.t.Errorf("%s at %+v was accepted by %q", row, at, version)
		return
	}
	m.rows.mu.Lock()
	defer m.rows.mu.Unlock()
	m.rows.by[row] = version
	v.must[row] = true
}
