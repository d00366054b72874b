//go:build kube

package kube

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/s3server"
	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

// TestMain: the test binary is also the object store's process.
func TestMain(m *testing.M) {
	svctest.Main(m, map[string]svctest.Role{"object-store": func(ctx context.Context, _ []string) error { return s3server.Run(ctx, os.Stdin) }})
}

// report collects the figures of docs/design/kubernetes.md.
type report struct{ rows []string }

func (r *report) add(t *testing.T, what, format string, args ...any) {
	t.Helper()
	value := fmt.Sprintf(format, args...)
	t.Logf("%s: %s", what, value)
	r.rows = append(r.rows, "| "+what+" | "+value+" |")
}

// TestKube runs the life of versions on the cluster, and the bad days: a drain, a cut cable, a node
// and a leader that are killed.
func TestKube(t *testing.T) {
	c := up(t, "sync")
	r := &report{}
	began := time.Now()
	lead := c.leader("")
	r.add(t, "first leader after the manifests", "%s", time.Since(began).Round(100*time.Millisecond))
	ledger := filepath.Join(c.root, "internal/test/e2e/testdata/ledger")
	c.awaitSpares(lead, 3)

	v1, _ := c.deploy(lead, ledger, "--version", "v1")
	web := c.visitors("")
	c.promote(lead, "v1")
	ready := readyTimes(func() { c.awaitSpares(lead, 3) }, func(name string) api.Version {
		v, _ := c.deploy(lead, ledger, "--version", name, "--parent", "v1")
		return v
	}, func(v api.Version) {
		if s := ask(t.Context(), web, http.MethodGet, v.PreviewURL+"/all", ""); s.status != http.StatusOK {
			t.Fatalf("%s: %d %s %v", v.ID, s.status, s.body, s.err)
		}
		c.verb(lead, "delete", v.ID)
	})
	r.add(t, "`POST` of a child to `ready`, a spare is there (median, longest of "+strconv.Itoa(children)+")", "%s, %s", ready[children/2].Round(time.Millisecond), ready[children-1].Round(time.Millisecond))
	beside := c.locally(t, ledger)
	r.add(t, "the same on one machine without Kubernetes, beside the cluster", "%s, %s", beside[children/2].Round(time.Millisecond), beside[children-1].Round(time.Millisecond))

	c.deploy(lead, ledger, "--version", "v2", "--parent", "v1")
	c.verb(lead, "archive", "v2")
	svctest.Eventually(t, "the pod of the archived version to go", func() bool { return c.podOf("v2") == nil })
	at := time.Now()
	c.verb(lead, "wake", "v2")
	r.add(t, "wake of an archived version, API call", "%s", time.Since(at).Round(time.Millisecond))

	// Promote under load, through three gateways. Each answer names its version.
	who := visit(t, web, v1.ProdURL+"/who", 24, 1000)
	who.await(t, 500)
	type turn struct {
		version string
		done    time.Time
	}
	var turns []turn
	for i := range 10 {
		version := []string{"v2", "v1"}[i%2]
		c.promote(lead, version)
		turns = append(turns, turn{version, time.Now()})
		who.await(t, 200)
	}
	list := who.end()
	bad := failed(list)
	wrong := 0
	for _, s := range list {
		for k, of := range turns { // an answer to a request that began after a promote is not from before it
			if s.began.After(of.done) && (k+1 == len(turns) || s.ended.Before(turns[k+1].done.Add(-2*time.Second))) && s.status == http.StatusOK && !strings.Contains(s.body, of.version) {
				wrong++
			}
		}
	}
	r.add(t, "10 promotes at 1,000 requests a second through 3 gateways", "%d requests, %d failed, %d by the wrong version, slowest %s", len(list), len(bad), wrong, slowest(list).Round(time.Millisecond))
	if len(bad) > 0 || wrong > 0 {
		t.Errorf("%d failed, first %+v; %d wrong", len(bad), bad[0], wrong)
	}
	c.awaitSpares(lead, 2)

	// Drain of the node of production.
	first := c.podOf("v1")
	lines := write(t, web, v1.ProdURL, 4)
	lines.await(t, 50)
	c.run(nil, "kubectl", "-n", namespace, "delete", "pod", first.Name, "--wait=false")
	c.awaitMove("v1", first.Name)
	lines.await(t, 50)
	drained := lines.since(0)
	bad = failed(drained)
	r.add(t, "a pod is drained under writes", "%d requests, %d failed, pause %s", len(drained), len(bad), gap(drained).Round(time.Millisecond))
	if len(bad) > 0 {
		t.Errorf("%d requests failed in the drain, first %+v", len(bad), bad[0])
	}

	// A new release of the control plane: each server is replaced, the leader last.
	c.awaitSpares(lead, 3)
	mark := lines.count()
	c.run(nil, "kubectl", "-n", namespace, "rollout", "restart", "deployment/svcctl")
	lead = c.leader(lead.Name)
	c.run(nil, "kubectl", "-n", namespace, "rollout", "status", "deployment/svcctl", "--timeout=120s")
	lead = c.leader("")
	lines.await(t, 50)
	rolled := lines.since(mark)
	r.add(t, "rolling update of the control plane under writes", "%d requests, %d failed, pause %s", len(rolled), len(failed(rolled)), gap(rolled).Round(time.Millisecond))

	// The cable of the node of production is pulled, and a node is killed.
	all := lines.end()
	c.awaitSpares(lead, 3)
	at2 := c.podOf("v1")
	lead, more := c.away(t, r, "cable of a node pulled", "cut", at2, lead, v1)
	all = append(all, more...)
	c.run(nil, "scripts/kube/cluster.sh", "heal", at2.Node[4:])
	c.awaitSpares(lead, 3)
	at2 = c.podOf("v1")
	lead, more = c.away(t, r, "node killed", "kill", at2, lead, v1)
	all = append(all, more...)
	c.run(nil, "scripts/kube/cluster.sh", "start", at2.Node[4:])

	// The leader is killed.
	c.logWays()
	for _, g := range c.gateways() {
		c.follow(g)
	}
	lines = write(t, c.visitors(at2.Node), v1.ProdURL, 4)
	lines.await(t, 50)
	at = time.Now()
	c.run(nil, "kubectl", "-n", namespace, "delete", "pod", lead.Name, "--grace-period=0", "--force")
	next := c.leader(lead.Name)
	back := time.Since(at)
	lines.await(t, 50)
	more = lines.end()
	c.logWays()
	all = append(all, more...)
	began, _ = pause(more)
	t.Logf("the longest pause began %s after the leader was deleted", began.Sub(at))
	r.add(t, "leader deleted without grace", "API back after %s; writes of visitors: pause %s, %d failed", back.Round(100*time.Millisecond), gap(more).Round(time.Millisecond), len(failed(more)))

	web = c.visitors(at2.Node)
	s := ask(t.Context(), web, http.MethodGet, v1.ProdURL+"/all", "")
	lost := 0
	for _, l := range all {
		if l.err == nil && l.status == http.StatusOK && !strings.Contains(s.body, l.body) {
			lost++
		}
	}
	r.add(t, "acknowledged writes", "%d, lost %d", len(all)-len(failed(all)), lost)
	if lost > 0 || s.status != http.StatusOK {
		t.Errorf("%d acknowledged writes are lost (%d %v)", lost, s.status, s.err)
	}
	c.deploy(next, ledger, "--version", "last", "--parent", "v1")
	c.verb(next, "delete", "last")
	if file := os.Getenv("KUBE_REPORT"); file != "" {
		text := "| what | measured |\n|---|---|\n" + strings.Join(r.rows, "\n") + "\n"
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// away takes a node away and waits until the version answers from another one. It returns the leader
// and the writes meanwhile.
func (c *cluster) away(t *testing.T, r *report, what, how string, at *pod, lead pod, v api.Version) (pod, []sample) {
	t.Helper()
	lines := write(t, c.visitors(at.Node), v.ProdURL, 4)
	lines.await(t, 50)
	c.run(nil, "scripts/kube/cluster.sh", how, at.Node[4:])
	led := lead.Node == at.Node
	if led {
		lead = c.leader(lead.Name)
	}
	c.awaitMove(v.ID, at.Name)
	lines.await(t, 50)
	list := lines.end()
	r.add(t, what, "production answers again after %s; %d requests failed meanwhile (the leader was there: %v)", gap(list).Round(100*time.Millisecond), len(failed(list)), led)
	return lead, list
}

// awaitMove waits until a version has another pod.
func (c *cluster) awaitMove(version, before string) {
	c.t.Helper()
	svctest.Succeeds(c.t, "another pod for "+version, func() error {
		if p := c.podOf(version); p == nil || p.Name == before {
			return fmt.Errorf("it has %v", p)
		}
		return nil
	})
}

// awaitSpares waits until n spare pods have joined.
func (c *cluster) awaitSpares(lead pod, n int) {
	c.t.Helper()
	svctest.Succeeds(c.t, "spare pods", func() error {
		list, err := c.client(lead).Nodes(c.t.Context())
		if err != nil {
			return err
		}
		have := 0
		for _, m := range list.Items {
			if len(m.Versions) == 0 {
				have += m.Spares
			}
		}
		if have < n {
			return fmt.Errorf("%d of %d", have, n)
		}
		return nil
	})
}

func (c *cluster) promote(lead pod, version string) {
	c.t.Helper()
	p, err := c.client(lead).Promote(c.t.Context(), "ledger", version, api.PromoteVersion{})
	if err == nil {
		_, err = c.client(lead).WaitPromotion(c.t.Context(), "ledger", p.OperationID)
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// verb archives, wakes or deletes a version.
func (c *cluster) verb(lead pod, verb, version string) {
	c.t.Helper()
	args := []string{"env", "SVCCTL_ADMIN_TOKEN=" + c.admin, "HOME=" + c.state, "bin/svcctl", "--server", "http://" + lead.IP + ":8790", "versions", verb, "ledger/" + version}
	if verb == "delete" {
		args = append(args, "--yes")
	}
	c.run(nil, args...)
}
