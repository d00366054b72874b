//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// check compares the server with the model, and the versions of the tasks with their rows.
func (m *modelRun) check(tasks []task) {
	m.t.Helper()
	m.checkVersions()
	m.checkProduction()
	m.checkRoutes()
	m.checkProcesses()
	for _, task := range tasks {
		for _, v := range task.on {
			m.checkVersion(v)
		}
	}
}

func (m *modelRun) checkAll() {
	m.t.Helper()
	m.check([]task{{on: slices.Collect(maps.Values(m.versions))}})
}

// checkVersions waits until no version is in a transition, and compares their statuses.
func (m *modelRun) checkVersions() {
	m.t.Helper()
	found := map[string]api.VersionStatus{}
	svctest.Succeeds(m.t, "no transition", func() error {
		clear(found)
		for _, status := range []api.VersionStatus{"", api.VersionStatusDestroyed} {
			for v, err := range m.client().AllVersions(m.t.Context(), modelProject, status) {
				if err != nil {
					return err
				}
				found[v.ID] = v.Status
			}
		}
		return m.settled(found)
	})
	for id, v := range m.versions {
		if !slices.Contains(v.status, found[id]) {
			m.t.Errorf("%s is %q, want one of %v", id, found[id], v.status)
			continue
		}
		v.status = []api.VersionStatus{found[id]}
	}
	for id := range found {
		if m.versions[id] == nil {
			m.t.Errorf("%s exists, and no client created it", id)
		}
	}
}

// settled returns an error while a version or a promotion is in a transition.
func (m *modelRun) settled(found map[string]api.VersionStatus) error {
	final := []api.VersionStatus{api.VersionStatusReady, api.VersionStatusArchived, api.VersionStatusFailed, api.VersionStatusDestroyed}
	for id, status := range found {
		if !slices.Contains(final, status) {
			return fmt.Errorf("%s is %s", id, status)
		}
	}
	page, err := m.client().Promotions(m.t.Context(), modelProject, client.Page{Limit: 5})
	for _, p := range page.Items {
		if p.Status == api.PromotionStatusRunning {
			err = fmt.Errorf("promotion %s is running", p.OperationID)
		}
	}
	return err
}

// checkProduction: one version says that it is production, the one that the project names.
func (m *modelRun) checkProduction() {
	m.t.Helper()
	p, err := m.client().Project(m.t.Context(), modelProject)
	if err != nil {
		m.t.Fatal(err)
	}
	var productions []string
	for v, err := range m.client().AllVersions(m.t.Context(), modelProject, "") {
		if err != nil {
			m.t.Fatal(err)
		}
		if v.IsProduction {
			productions = append(productions, v.ID)
		}
	}
	if !slices.Equal(productions, []string{p.ProdVersionID}) || !slices.Contains(m.prod, p.ProdVersionID) {
		m.t.Errorf("production is %v, the project says %q, want one of %v", productions, p.ProdVersionID, m.prod)
	}
	m.prod = []string{p.ProdVersionID}
}

// checkRoutes waits for the routes after a restart. It compares the routes of the gateway with the versions of the registry.
func (m *modelRun) checkRoutes() {
	m.t.Helper()
	svctest.Succeeds(m.t, "the routes of the registry", m.routes)
}

func (m *modelRun) routes() error {
	page, err := m.client().Routes(m.t.Context())
	if err != nil {
		return err
	}
	var previews, productions []string
	for _, r := range page.Items {
		if r.Role == api.RouteRoleProduction {
			productions = append(productions, r.VersionID)
		} else {
			previews = append(previews, r.VersionID)
		}
	}
	var want []string
	for id, v := range m.versions {
		if v.status[0] != api.VersionStatusDestroyed {
			want = append(want, id)
		}
	}
	slices.Sort(previews)
	slices.Sort(want)
	if !slices.Equal(previews, want) || !slices.Equal(productions, m.prod) {
		return fmt.Errorf("routes of previews: %v, want %v; of production: %v, want %v", previews, want, productions, m.prod)
	}
	return nil
}

// checkProcesses waits until each ready version serves or sleeps, and only those that serve
// have a worker host and a workerd.
func (m *modelRun) checkProcesses() {
	m.t.Helper()
	svctest.Succeeds(m.t, "one worker host and one workerd for each version that serves", func() error {
		serving := 0
		for v, err := range m.client().AllVersions(m.t.Context(), modelProject, api.VersionStatusReady) {
			switch {
			case err != nil:
				return err
			case v.Runtime == nil:
				return fmt.Errorf("%s has no runtime", v.ID)
			case v.Runtime.State == api.RuntimeStateServing:
				serving++
			case v.Runtime.State != api.RuntimeStateAsleep:
				return fmt.Errorf("%s is %s", v.ID, v.Runtime.State)
			}
		}
		if hosts, workers, stores := m.kinds(); hosts != serving || workers != serving || stores != 1 {
			return fmt.Errorf("%d hosts, %d workerds and %d stores for %d versions that serve", hosts, workers, stores, serving)
		}
		return nil
	})
}

// checkVersion asks a version at its own address.
func (m *modelRun) checkVersion(v *modeled) {
	m.t.Helper()
	switch v.status[0] { //nolint:exhaustive // the model has no other answer to compare
	case api.VersionStatusReady:
		m.checkAnswers(v)
		m.checkRows(v)
	case api.VersionStatusArchived:
		m.refuses(v, http.StatusServiceUnavailable, "version_archived")
	case api.VersionStatusDestroyed:
		m.refuses(v, http.StatusNotFound, "route_not_found")
	default:
	}
}

func (m *modelRun) refuses(v *modeled, status int, code string) {
	m.t.Helper()
	if a := m.get(v.url + "/who"); a.Status != status || a.Header.Get("Svc-Error") != code {
		m.t.Errorf("%s, which is %v: %d %q %s", v.id, v.status, a.Status, a.Header.Get("Svc-Error"), a.Body)
	}
}

// checkAnswers checks the version that answers, and its variable.
func (m *modelRun) checkAnswers(v *modeled) {
	m.t.Helper()
	var who struct{ Version, Round string }
	a := m.served(v.url + "/who")
	if err := json.Unmarshal([]byte(a.Body), &who); err != nil || who.Version != v.id || !slices.Contains(v.round, who.Round) {
		m.t.Errorf("%s answers %d %s (%v), want one of %v", v.id, a.Status, a.Body, err, v.round)
	}
	env, err := m.client().Env(m.t.Context(), modelProject, v.id)
	if err != nil || env.Overrides()["ROUND"] != who.Round {
		m.t.Errorf("%s has the variables %v (%v), its worker has %q", v.id, env.Overrides(), err, who.Round)
	}
	v.round = []string{who.Round}
}

// checkRows: a version has the rows that it and, before the fork, its ancestors accepted,
// each once, and none that another version accepted.
func (m *modelRun) checkRows(v *modeled) {
	m.t.Helper()
	var lines [][]string
	a := m.served(v.url + "/all")
	if err := json.Unmarshal([]byte(a.Body), &lines); err != nil {
		m.t.Errorf("%s: %d %.300s: %v", v.id, a.Status, a.Body, err)
		return
	}
	m.rows.mu.Lock()
	defer m.rows.mu.Unlock()
	has := map[string]bool{}
	for _, row := range slices.Concat(lines...) {
		by := m.rows.by[row]
		if has[row] || !m.rows.tried[row] || by != "" && !slices.Contains(v.lineage, by) {
			m.t.Errorf("%s has %q: twice %v, accepted by %q", v.id, row, has[row], by)
		}
		has[row] = true
	}
	for row := range v.must {
		if !has[row] {
			m.t.Errorf("%s lost %s, which %s accepted", v.id, row, m.rows.by[row])
		}
	}
}
