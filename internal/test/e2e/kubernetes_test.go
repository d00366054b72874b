//go:build e2e

package e2e

import (
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	core "k8s.io/api/core/v1"

	"github.com/svcctl/svcctl/internal/fleet/join"
	"github.com/svcctl/svcctl/internal/test/kubetest"
	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

// cluster is an API server whose pods are processes of svcd host, and two servers of which one
// leads.
type cluster struct {
	t       *testing.T
	api     *kubetest.Server
	home    string
	hosts   string // address where pods dial
	ca      string // file
	servers []*daemon

	mu   sync.Mutex
	pods map[string]*machine
}

func newCluster(t *testing.T, spares int) *cluster {
	t.Helper()
	c := &cluster{t: t, hosts: freeAddress(t), pods: map[string]*machine{}}
	store := objectStore(t)
	authority, err := join.NewAuthority(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	text, err := authority.PEM()
	if err != nil {
		t.Fatal(err)
	}
	c.home = svctest.ShortDir(t)
	keys := filepath.Join(c.home, "authority.pem")
	c.ca = filepath.Join(c.home, "ca.crt")
	for file, content := range map[string][]byte{keys: text, c.ca: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authority.Certificate().Raw})} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c.api = kubetest.New(t, kubetest.Options{Begun: c.begin, Ended: c.end})
	gateway := freeAddress(t)
	_, port, _ := strings.Cut(gateway, ":")
	recovery, gateways := rand.Text()+rand.Text(), lettingGateways(t)
	for i := range 2 {
		pod := fmt.Sprintf("server-%d", i)
		c.api.Add(pod)
		c.servers = append(c.servers, newDaemon(t, external(store,
			"SVC_RUNTIME=kubernetes", "SVC_K8S_POD="+pod, "SVC_HOSTS_ADDR="+c.hosts, "SVC_HOSTS_AUTHORITY="+keys, "SVC_K8S_KUBECONFIG="+c.api.Kubeconfig(t), "SVC_LEADER_LEASE=svcctl",
			"SVC_REGISTRY_SYNC=1", "SVC_RECOVERY_KEY="+recovery, "SVC_DURABILITY=sync", "GATEWAY_PORT="+port, "SVC_HOST_SILENCE=9s")...))
		last := c.servers[i]
		last.env = append(last.env, gateways...) // the one that leads listens there
	}
	t.Cleanup(c.endAll)
	c.api.Scale(spares)
	return c
}

// begin runs the process of a pod.
func (c *cluster) begin(pod *core.Pod) {
	token := filepath.Join(c.home, pod.Name+".token")
	if err := os.WriteFile(token, []byte(c.api.Token(c.t, pod, nil)), 0o600); err != nil {
		c.t.Error(err)
		return
	}
	d := c.servers[0]
	m := &machine{name: pod.Name, exited: make(chan struct{}), log: &svctest.Buffer{}}
	m.cmd = exec.Command(program(), "host", "--join", "https://"+c.hosts, "--ca-file", c.ca, "--token-file", token, "--data", filepath.Join(d.home, pod.Name),
		"--name", pod.Name, "--machine-id", string(pod.UID), "--seats", "1", "--drain", "10s", "--listen", "127.0.0.1:0")
	m.cmd.Env, m.cmd.Dir, m.cmd.Stdout, m.cmd.Stderr = d.env, d.home, m.log, m.log
	if err := m.cmd.Start(); err != nil {
		c.t.Error(err)
		return
	}
	go func() { _ = m.cmd.Wait(); close(m.exited) }()
	c.mu.Lock()
	c.pods[pod.Name] = m
	c.mu.Unlock()
}

// end kills the process of a pod that was deleted.
func (c *cluster) end(pod *core.Pod) {
	if m := c.pod(pod.Name); m != nil {
		m.kill()
	}
}

func (c *cluster) pod(name string) *machine {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pods[name]
}

func (c *cluster) endAll() {
	c.api.Scale(0)
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, m := range c.pods {
		m.kill()
		if c.t.Failed() {
			c.t.Logf("the log of %s:\n%s", name, m.log.String())
		}
	}
}

// podOf waits until a version has a pod other than before.
func (c *cluster) podOf(v api.Version, before string) (name string) {
	c.t.Helper()
	svctest.Succeeds(c.t, "a pod for "+v.ID, func() error {
		pod := c.api.PodOf(v.ProjectID, v.ID)
		if pod == nil || pod.Name == before {
			return fmt.Errorf("it has none but %q", before)
		}
		name = pod.Name
		return nil
	})
	return name
}

// TestKubernetes runs the life of versions in pods: a drain under load, a pod that is killed, an API
// server that is away, and a leader that is killed while a version is written to. No acknowledged
// write is lost, and no request fails in the drain.
func TestKubernetes(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2)
	d := c.servers[0]
	if !d.start() {
		t.Fatal(d.log.String())
	}
	standby := c.servers[1]
	standby.launch()
	v1 := d.deploy(ledgerDir, "--version", "v1")
	d.promoteNow("v1")
	first := c.podOf(v1, "")
	v2 := d.deploy(ledgerDir, "--version", "v2", "--parent", "v1")
	second := c.podOf(v2, "")
	c.shown(d, v1, first)
	d.ok(d.home, "versions", "archive", "ledger/v2")
	svctest.Eventually(t, "the pod of the archived version to be deleted", func() bool { return c.api.PodOf("ledger", "v2") == nil })
	d.ok(d.home, "versions", "wake", "ledger/v2")
	c.podOf(v2, second)

	b := &daemonPair{t: t, daemons: []*daemon{d}, url: v1.ProdURL}
	writers := b.write(d, 4)
	b.await(writers, 30)
	c.api.Evict(first) // a drain of its node
	if err := c.pod(first).cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	now := c.podOf(v1, first)
	svctest.Wait(t, "the pod that was drained to end", c.pod(first).exited)
	b.await(writers, 30)
	if len(writers.failed) > 0 {
		t.Errorf("%d requests failed in the drain, first: %s", len(writers.failed), writers.failed[0])
	}
	c.api.Remove(first)

	c.pod(now).kill() // as its node would be cut off: the API server says that it runs
	moved := c.podOf(v1, now)
	b.await(writers, 30)
	svctest.Eventually(t, "the pod that was lost to be deleted", func() bool {
		for _, p := range c.api.Pods() {
			if p.Name == now {
				return false
			}
		}
		return true
	})

	c.api.SetDown(true)
	b.await(writers, 30)
	waits := make(chan api.Version, 1)
	go func() { waits <- d.deploy(ledgerDir, "--version", "v3", "--parent", "v1") }()
	svctest.Succeeds(t, "the deploy to wait for the API server", func() error {
		if !strings.Contains(d.log.String(), "a spare worker host cannot be used") {
			return errors.New("the log does not say so")
		}
		return nil
	})
	svctest.Eventually(t, "the leader to serve for longer than its lease without the API server", func() bool {
		return strings.Count(d.log.String(), "renewing the lease failed") > 16 // four times a second, and then each second
	})
	b.await(writers, 30)
	c.api.SetDown(false)
	svctest.Wait(t, "the deploy", waits)

	if pods := c.api.Labeled("svcctl.dev/leader"); !slices.Equal(pods, []string{"server-0"}) {
		t.Errorf("Services lead to %q", pods)
	}
	host := d.hostOf(v1)
	cable := newWire(t, d.gatewaysAt())
	g := d.gatewayAt("a", cable.addr)
	g.servesAlone(cable, v1.ProdURL+"/who")
	visitors := g.visit(v1.ProdURL + "/who")
	visitors.await(50)
	d.kill()
	if !standby.up() {
		t.Fatal(standby.log.String())
	}
	g.is("ok")
	visitors.await(50)
	visitors.end("the loss of the leader")
	g.stop()
	standby.note.AdminToken, standby.note.DeployToken = d.note.AdminToken, d.note.DeployToken
	svctest.Eventually(t, "Services to lead to the new leader", func() bool { return slices.Equal(c.api.Labeled("svcctl.dev/leader"), []string{"server-1"}) })
	b.await(writers, 30)
	lines := make([]string, 0, 1000)
	for _, l := range writers.end() {
		lines = append(lines, l.text)
	}
	standby.checkLines(v1.ProdURL, lines)
	if pid := standby.hostOf(v1); pid != host || c.podOf(v1, "") != moved {
		t.Errorf("the version runs in process %d after the loss of the leader, want %d", pid, host)
	}
	if v, err := standby.client().Version(t.Context(), "ledger", "v3"); err != nil || string(v.Status) != "ready" {
		t.Errorf("the new leader says of v3: %+v, %v", v, err)
	}
	standby.deploy(ledgerDir, "--version", "v4", "--parent", "v1")
	if code := standby.stop(); code != 0 {
		t.Errorf("the leader ended with %d", code)
	}
	select {
	case <-c.pod(moved).exited:
		t.Error("an orderly stop of the leader has ended a version")
	default:
	}
}

// shown checks that a version and the list of nodes name the pod of a version and its node.
func (c *cluster) shown(d *daemon, v api.Version, pod string) {
	c.t.Helper()
	node := c.api.PodOf(v.ProjectID, v.ID).Spec.NodeName
	now, err := d.client().Version(c.t.Context(), v.ProjectID, v.ID)
	if err != nil || now.Runtime == nil || now.Runtime.Node != pod || now.Runtime.ClusterNode != node {
		c.t.Errorf("%+v, %v, want the pod %s on %s", now.Runtime, err, pod, node)
	}
	list, err := d.client().Nodes(c.t.Context())
	if err != nil || !slices.ContainsFunc(list.Items, func(n api.Node) bool {
		return n.Name == pod && n.Node == node && slices.Equal(n.Versions, []string{v.ProjectID + "/" + v.ID})
	}) {
		c.t.Errorf("%+v, %v, want the pod %s on %s", list, err, pod, node)
	}
}

// promoteNow promotes a version of the ledger and waits.
func (d *daemon) promoteNow(version string) {
	d.t.Helper()
	p, err := d.client().Promote(d.t.Context(), "ledger", version, api.PromoteVersion{})
	if err == nil {
		_, err = d.client().WaitPromotion(d.t.Context(), "ledger", p.OperationID)
	}
	if err != nil {
		d.t.Fatal(err)
	}
}
