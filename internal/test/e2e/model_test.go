//go:build e2e

package e2e

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svcctl/svcctl/pkg/api"
)

const modelProject = "ledger"

// modelSeeds choose the operations of TestModelShort, which together are of every kind, and the
// moments of its kills.
var modelSeeds = []uint64{2, 3}

// TestModelShort runs random operations of the control plane, while the daemon, worker hosts
// and workerds are killed, and compares the server with a model after each step: no version
// is lost, production is one version, the routes are those of the registry, no process is
// left over, and a row that a client saw accepted is there. Without a fault no operation
// fails. It runs one operation at a time; make torture runs TestModel.
func TestModelShort(t *testing.T) {
	t.Parallel()
	for _, seed := range modelSeeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			runModel(t, seed, 10, true)
		})
	}
}

func runModel(t *testing.T, seed uint64, operations int, calm bool) {
	t.Helper()
	t.Logf("-model.seed=%d", seed)
	m := newModelRun(t, rand.New(rand.NewPCG(seed, 1)))
	m.calm = calm
	began := time.Now()
	for m.operations() < operations && !t.Failed() {
		m.step()
	}
	m.checkAll()
	t.Logf("%d operations in %s: %v; %d rows accepted, %d not; %s",
		m.operations(), time.Since(began).Round(time.Second), m.tally, len(m.rows.by), len(m.rows.tried)-len(m.rows.by), loadAverage())
}

// modelRun is a daemon over all its lives, and what its clients know.
type modelRun struct {
	*daemon // with addresses that do not change

	t       *testing.T
	process *daemon // is killed and started
	rand    *rand.Rand
	bundle  []byte
	tally   map[string]int // operations and faults by name

	versions  map[string]*modeled
	rows      rows
	prod      []string // versions one of which is production
	prodURL   string
	disturbed bool // in this step processes end
	calm      bool // one operation at a time; a request may be held for too long
}

// modeled is a version as its clients know it: each slice holds what may be true.
type modeled struct {
	id, url string
	lineage []string // its ancestors and itself
	status  []api.VersionStatus
	round   []string        // values of the variable ROUND
	must    map[string]bool // rows that it has
}

func newModelRun(t *testing.T, r *rand.Rand) *modelRun {
	t.Helper()
	d := newDaemon(t, "SVC_SLEEP_IDLE=1", "SVC_SLEEP_PRODUCTION=1",
		"PLATFORM_PORT="+freePort(t), "GATEWAY_PORT="+freePort(t), "SVC_EMBEDDED_S3_ADDR=127.0.0.1:"+freePort(t))
	d.bin = breakable
	if !d.start() {
		t.Fatal(d.log.String())
	}
	m := &modelRun{
		t: t, process: d, rand: r, tally: map[string]int{}, versions: map[string]*modeled{}, rows: newRows(),
		daemon: &daemon{t: t, home: d.home, env: d.env, log: d.log, note: d.note},
		bundle: []byte(d.ok(ledgerDir, "bundle", "-O", "-")),
	}
	m.project(modelProject)
	if err := m.create(m.fresh(nil)); err != nil {
		t.Fatal(err)
	}
	p, err := m.client().Project(t.Context(), modelProject)
	if err != nil {
		t.Fatal(err)
	}
	m.prod, m.prodURL = []string{"v1"}, p.ProdURL
	m.checkAll()
	return m
}

// operations is the number of operations so far, without faults.
func (m *modelRun) operations() (n int) {
	for name, times := range m.tally {
		if !strings.HasPrefix(name, "kill") {
			n += times
		}
	}
	return n
}

// step runs a few operations on different versions, with requests to them, and perhaps a
// fault.
func (m *modelRun) step() {
	m.t.Helper()
	fault := m.fault()
	tasks := m.choose(fault != nil)
	m.disturbed = fault != nil || tasks[0].disturbs
	var names []string
	for _, task := range tasks {
		m.tally[task.name]++
		names = append(names, fmt.Sprint(task.name, " ", task.ids()))
	}
	m.t.Logf("step: %s (disturbed: %v)", strings.Join(names, ", "), m.disturbed)
	end := m.traffic(tasks)
	var all sync.WaitGroup
	for _, task := range tasks {
		all.Go(task.run)
	}
	if fault != nil {
		all.Go(fault)
	}
	all.Wait()
	end()
	m.check(tasks)
}

// live returns the versions that may have one of these statuses, and are not production.
func (m *modelRun) live(statuses ...api.VersionStatus) (found []*modeled) {
	for _, id := range slices.Sorted(maps.Keys(m.versions)) {
		v := m.versions[id]
		if slices.Contains(statuses, v.status[0]) && !slices.Contains(m.prod, id) {
			found = append(found, v)
		}
	}
	return found
}
