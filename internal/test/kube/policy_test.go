//go:build kube

package kube

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

// stranger is a pod of another namespace, whose one process waits.
const stranger = `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "stranger", "namespace": "default"},
  "spec": {"containers": [{"name": "main", "image": "docker.io/local/pause:1", "imagePullPolicy": "Never"}]}}`

// TestPolicies runs the life of versions while a network plugin enforces the NetworkPolicies of the
// manifests, and tries what they forbid.
func TestPolicies(t *testing.T) {
	c := start(t, "sync", tool(t, "KUBE_ROUTER"))
	lead := c.leader("")
	c.awaitSpares(lead, 3)
	c.run([]byte(stranger), "kubectl", "apply", "-f", "-")
	v1, _ := c.deploy(lead, filepath.Join(c.root, "internal/test/e2e/testdata/ledger"), "--version", "v1")
	c.deploy(lead, filepath.Join(c.root, "internal/test/e2e/testdata/ledger"), "--version", "v2", "--parent", "v1")
	c.promote(lead, "v1")
	web := c.visitors("")
	svctest.Eventually(t, "writes", func() bool {
		s := ask(t.Context(), web, http.MethodGet, v1.ProdURL+"/all", "")
		return s.status == http.StatusOK
	})
	c.verb(lead, "archive", "v2")
	c.verb(lead, "wake", "v2")
	c.pathsOf(t, lead, v1)
}

// pathsOf tries each way between the pods.
func (c *cluster) pathsOf(t *testing.T, lead pod, v api.Version) {
	t.Helper()
	worker, other := c.podOf("v1"), c.podOf("v2")
	gateways, err := c.pods("app.kubernetes.io/component=gateway")
	if worker == nil || other == nil || err != nil || len(gateways) == 0 {
		t.Fatalf("%v, %v, %d gateways: %v", worker, other, len(gateways), err)
	}
	store := strings.TrimPrefix(c.s3.Endpoint(), "http://")
	from := map[string]string{"worker": c.process(namespace, worker.Name), "gateway": c.process(namespace, gateways[0].Name), "stranger": c.process("default", "stranger")}
	at := func(p pod, port string) string { return net.JoinHostPort(p.IP, port) }
	for _, way := range []struct {
		from, to, addr string
		open           bool
	}{
		{"worker", "the control plane's hosts", at(lead, "8792"), true},
		{"worker", "the object store", store, true},
		{"worker", "the API", at(lead, "8790"), false},
		{"worker", "the control plane's gateways", at(lead, "8791"), false},
		{"worker", "a gateway", at(gateways[0], "8787"), false},
		{"worker", "another worker", at(*other, "8794"), false},
		{"worker", "Kubernetes", gate + ":6443", false},
		{"worker", "Kubernetes' Service", "10.96.0.1:443", false},
		{"worker", "a kubelet", "10.250.0.11:10250", false},
		{"gateway", "the control plane's gateways", at(lead, "8791"), true},
		{"gateway", "a worker", at(*worker, "8794"), true},
		{"gateway", "the control plane's hosts", at(lead, "8792"), false},
		{"gateway", "the API", at(lead, "8790"), false},
		{"gateway", "the object store", store, false},
		{"stranger", "the API", at(lead, "8790"), true},
		{"stranger", "a gateway", at(gateways[0], "8787"), true},
		{"stranger", "the control plane's hosts", at(lead, "8792"), false},
		{"stranger", "the control plane's gateways", at(lead, "8791"), false},
		{"stranger", "a worker", at(*worker, "8794"), false},
		{"stranger", "the object store", store, true}, // it is no pod
	} {
		if open := reaches(from[way.from], way.addr); open != way.open {
			t.Errorf("from %s to %s (%s): open is %t, want %t", way.from, way.to, way.addr, open, way.open)
		}
	}
	if s := ask(t.Context(), c.visitors(""), http.MethodGet, v.ProdURL+"/all", ""); s.status != http.StatusOK {
		t.Errorf("%d %s", s.status, s.body)
	}
}

// process waits for a process of a pod's container, and returns its id.
func (c *cluster) process(in, name string) (pid string) {
	c.t.Helper()
	svctest.Succeeds(c.t, "a process of "+name, func() error {
		uid, err := c.try(nil, "kubectl", "-n", in, "get", "pod", name, "-o", "jsonpath={.metadata.uid}")
		if err != nil || uid == "" {
			return errors.Join(errors.New("no pod"), err)
		}
		groups, err := filepath.Glob("/proc/[0-9]*/cgroup")
		for _, g := range groups {
			if text, err := os.ReadFile(g); err == nil && strings.Contains(string(text), "pod"+uid) {
				pid = filepath.Base(filepath.Dir(g))
				return nil
			}
		}
		return errors.Join(fmt.Errorf("no process of pod %s", uid), err)
	})
	return pid
}

// reaches reports whether a connection can be opened in the network of a process.
func reaches(pid, addr string) bool {
	at, port, _ := net.SplitHostPort(addr)
	return exec.Command("nsenter", "-t", pid, "-n", "timeout", "3", "bash", "-c", "exec 3<>/dev/tcp/"+at+"/"+port).Run() == nil
}
