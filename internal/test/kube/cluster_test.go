//go:build kube

package kube

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/s3server"
	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

const (
	gate      = "10.250.0.1" // this machine, as the nodes see it
	storeIP   = "10.250.0.2" // the same: the object store has an address of its own
	image     = "docker.io/local/svcctl:test"
	namespace = "svcctl"
	host      = "kube.test"
	// What the cluster has no DNS for: the chart's Services at fixed addresses.
	hostsIP, gatewaysIP = "10.96.0.50", "10.96.0.51"
)

// cluster is the cluster with the program installed.
type cluster struct {
	t     *testing.T
	root  string // of the repository
	state string
	admin string
	ci    string // deploy token
	led   string // the last leader

	durability string // SVC_DURABILITY
	policies   string // the program that enforces NetworkPolicies; "" for none
	s3         *s3server.Server
}

// tools are made by make e2e-kube.
func tool(t *testing.T, name string) string {
	t.Helper()
	path := os.Getenv(name)
	if path == "" {
		t.Fatalf("%s is not set: run make e2e-kube", name)
	}
	return path
}

// up starts the cluster and installs the program.
func up(t *testing.T, durability string) *cluster {
	t.Helper()
	return start(t, durability, "")
}

// start is up, with the program that enforces NetworkPolicies; "" for none.
func start(t *testing.T, durability, policies string) *cluster {
	t.Helper()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{t: t, root: root, state: tool(t, "KUBE_STATE"), durability: durability, policies: policies}
	t.Cleanup(func() {
		if t.Failed() {
			c.show()
		}
		_, _ = c.try(nil, "scripts/kube/cluster.sh", "down")
	})
	c.run(nil, "scripts/kube/cluster.sh", "up", "3")
	c.run(nil, "scripts/kube/cluster.sh", "image", image, tool(t, "KUBE_IMAGE"))
	svctest.Succeeds(t, "three nodes", func() error {
		out, err := c.try(nil, "kubectl", "get", "nodes", "--no-headers")
		if n := strings.Count(out, " Ready "); err != nil || n < 3 {
			return fmt.Errorf("%d nodes are ready: %w", n, err)
		}
		return nil
	})
	if policies != "" {
		c.run(nil, "scripts/kube/cluster.sh", "policies", policies)
	}
	c.s3 = c.store()
	c.install(c.s3)
	return c
}

// store starts the object store and returns its settings.
func (c *cluster) store() *s3server.Server {
	c.t.Helper()
	dir := svctest.ShortDir(c.t)
	s, err := s3server.New(s3server.Config{
		Dir: filepath.Join(dir, "store"), Socket: filepath.Join(dir, "s3.sock"), Address: net.JoinHostPort(storeIP, "0"),
		Command: []string{filepath.Join(c.root, "bin/svcctl"), "object-store"}, Logger: slog.New(slog.DiscardHandler),
	})
	if err == nil {
		err = s.Start(c.t.Context())
	}
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(s.Stop)
	return s
}

// install applies what svcctl admin manifests kubernetes prints.
func (c *cluster) install(s *s3server.Server) {
	c.t.Helper()
	values := filepath.Join(c.state, "values.yaml")
	text := fmt.Sprintf(`host: %s
publicURL: http://%s:8787
image: {ref: %q, pullPolicy: Never}
secrets: {existing: svcctl}
s3: {endpoint: %q, region: us-east-1, secret: svcctl-s3, bucketPrefix: kube}
controlPlane: {replicas: 2, settings: {SVC_DURABILITY: %s, SVC_LEASE_TTL: 6s, SVC_K8S_MEMORY_MB: "512"}}
gateway: {replicas: 3, trustedProxies: "off"}
hosts: {spares: 3, podTemplate: {spec: {hostAliases: [{ip: %s, hostnames: [svcctl-hosts]}]}}}
networkPolicy: {enabled: %t, objectStore: [{ipBlock: {cidr: %s/32}}]}
`, host, host, image, s.Endpoint(), c.durability, hostsIP, c.policies != "", storeIP)
	if err := os.WriteFile(values, []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
	manifests := []string{"bin/svcctl", "admin", "manifests", "kubernetes", "--namespace", namespace, "-f", values}
	c.run(nil, "kubectl", "create", "namespace", namespace)
	c.run(nil, "kubectl", "label", "namespace", namespace, "pod-security.kubernetes.io/enforce=restricted")
	c.run(nil, "kubectl", "-n", namespace, "create", "secret", "generic", "svcctl-s3",
		"--from-literal=S3_ACCESS_KEY_ID="+s.Keys().AccessKey, "--from-literal=S3_SECRET_ACCESS_KEY="+s.Keys().SecretKey.Reveal())
	c.run([]byte(c.run(nil, append(manifests, "--secrets-only")...)), "kubectl", "create", "-f", "-")
	all := c.run(nil, manifests...)
	all = fixed(fixed(all, "svcctl-hosts", hostsIP), "svcctl-gateways", gatewaysIP)
	all = strings.ReplaceAll(all, "http://svcctl-gateways:8791", "http://"+gatewaysIP+":8791")
	c.run([]byte(all), "kubectl", "apply", "-f", "-")
	c.admin, c.ci = c.secret("admin-token"), c.secret("deploy-token")
}

// fixed gives a Service of the manifests an address: the cluster has no DNS.
func fixed(manifests, service, ip string) string {
	docs := strings.Split(manifests, "\n---\n")
	for i, d := range docs {
		if strings.Contains(d, "kind: Service\n") && strings.Contains(d, "\n  name: "+service+"\n") {
			docs[i] = strings.Replace(d, "\nspec:\n", "\nspec:\n  clusterIP: "+ip+"\n", 1)
		}
	}
	return strings.Join(docs, "\n---\n")
}

func (c *cluster) secret(key string) string {
	c.t.Helper()
	text := c.run(nil, "kubectl", "-n", namespace, "get", "secret", "svcctl", "-o", "go-template={{index .data "+fmt.Sprintf("%q", key)+" | base64decode}}")
	return strings.TrimSpace(text)
}

// run runs a command of the repository and returns its output.
func (c *cluster) run(in []byte, args ...string) string {
	c.t.Helper()
	out, err := c.try(in, args...)
	if err != nil {
		c.t.Fatalf("%v: %v", args, err)
	}
	return out
}

func (c *cluster) try(in []byte, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.t.Context()), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Stdin = c.root, bytes.NewReader(in)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+filepath.Join(c.state, "admin.conf"))
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%w: %s%s", err, errs.String(), out.String())
	}
	return out.String(), nil
}

// show prints what helps to understand a failure.
func (c *cluster) show() {
	for _, args := range [][]string{
		{"kubectl", "get", "nodes", "-o", "wide"},
		{"kubectl", "-n", namespace, "get", "pods", "-o", "wide", "--show-labels"},
		{"kubectl", "-n", namespace, "get", "events", "--sort-by=.lastTimestamp"},
		{"kubectl", "-n", namespace, "logs", "-l", "app.kubernetes.io/component=control-plane", "--tail=150", "--prefix"},
		{"kubectl", "-n", namespace, "logs", "-l", "app.kubernetes.io/component=host", "--tail=20", "--prefix"},
		{"kubectl", "-n", namespace, "logs", "-l", "app.kubernetes.io/component=gateway", "--tail=20", "--prefix"},
	} {
		out, err := c.try(nil, args...)
		c.t.Logf("%v: %v\n%s", args, err, out)
	}
}

// pod is what the tests need of one.
type pod struct {
	Name, IP, Node string
	Labels         map[string]string
	Ending         bool
}

// pods returns the pods with a label.
func (c *cluster) pods(selector string) (list []pod, err error) {
	out, err := c.try(nil, "kubectl", "-n", namespace, "get", "pods", "-l", selector, "-o", "json")
	if err != nil {
		return nil, err
	}
	var all struct {
		Items []struct {
			Metadata struct {
				Name              string            `json:"name"`
				Labels            map[string]string `json:"labels"`
				DeletionTimestamp *string           `json:"deletionTimestamp"`
			} `json:"metadata"`
			Spec struct {
				NodeName string `json:"nodeName"`
			} `json:"spec"`
			Status struct {
				PodIP string `json:"podIP"`
			} `json:"status"`
		} `json:"items"`
	}
	if err := json.Unmarshal([]byte(out), &all); err != nil {
		return nil, err
	}
	for _, p := range all.Items {
		list = append(list, pod{p.Metadata.Name, p.Status.PodIP, p.Spec.NodeName, p.Metadata.Labels, p.Metadata.DeletionTimestamp != nil})
	}
	return list, nil
}

// podOf returns the pod of a version; nil for none.
func (c *cluster) podOf(version string) *pod {
	list, err := c.pods("svcctl.dev/version=" + version)
	if err != nil {
		return nil
	}
	for _, p := range list {
		if !p.Ending {
			return &p
		}
	}
	return nil
}

// leader waits for a server that leads, other than before, and returns its pod.
func (c *cluster) leader(before string) (leader pod) {
	c.t.Helper()
	svctest.Succeeds(c.t, "a server that leads", func() error {
		list, err := c.pods("svcctl.dev/leader=true")
		for _, p := range list {
			if p.Name == before || p.IP == "" {
				continue
			}
			leader = p
			_, err = c.client(p).Health(c.t.Context())
			return err
		}
		return errors.Join(errors.New("no pod has the label"), err)
	})
	if leader.Name != c.led {
		c.led = leader.Name
		c.follow(leader)
	}
	return leader
}

// follow writes the log of a pod to the directory KUBE_LOGS, if it is set, in a file for each call: a
// container that starts again has another log, and that of a pod that was deleted is gone.
func (c *cluster) follow(p pod) {
	dir := os.Getenv("KUBE_LOGS")
	if dir == "" {
		return
	}
	file, err := os.Create(filepath.Join(dir, p.Name+time.Now().Format(".150405")+".log"))
	if err != nil {
		c.t.Fatal(err)
	}
	cmd := exec.CommandContext(c.t.Context(), "kubectl", "-n", namespace, "logs", "-f", p.Name)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), "KUBECONFIG="+filepath.Join(c.state, "admin.conf")), file, file
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	go func() { _ = cmd.Wait(); _ = file.Close() }()
}

func (c *cluster) client(leader pod) *client.Client {
	c.t.Helper()
	sdk, err := client.New("http://"+net.JoinHostPort(leader.IP, "8790"), client.Tokens{Deploy: c.ci, Admin: c.admin}, client.Options{})
	if err != nil {
		c.t.Fatal(err)
	}
	return sdk
}

// deploy runs svcctl deploy --wait against the server that leads.
func (c *cluster) deploy(leader pod, dir string, args ...string) (api.Version, time.Duration) {
	c.t.Helper()
	began := time.Now()
	env := []string{"env", "SVCCTL_DEPLOY_TOKEN=" + c.ci, "SVCCTL_ADMIN_TOKEN=" + c.admin, "HOME=" + c.state}
	out := c.run(nil, append(append(env, filepath.Join(c.root, "bin/svcctl"), "--server", "http://"+net.JoinHostPort(leader.IP, "8790"), "--cwd", dir, "deploy", "--wait", "-o", "json"), args...)...)
	var v api.Version
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		c.t.Fatalf("%q: %v", out, err)
	}
	return v, time.Since(began)
}

func (c *cluster) gateways() []pod {
	c.t.Helper()
	list, err := c.pods("app.kubernetes.io/component=gateway")
	if err != nil {
		c.t.Fatal(err)
	}
	return list
}

// logWays logs how many requests each gateway has sent to pods directly, and through the leader.
func (c *cluster) logWays() {
	c.t.Helper()
	for _, g := range c.gateways() {
		s := ask(c.t.Context(), http.DefaultClient, http.MethodGet, "http://"+net.JoinHostPort(g.IP, "8793")+"/metrics", "")
		for line := range strings.Lines(s.body) {
			if strings.HasPrefix(line, "svc_gateway_ways_total") {
				c.t.Logf("%s: %s", g.Name, line)
			}
		}
	}
}

// awaitStandby waits until another server than the leader reads the Lease: only then a loss of the
// leader says how long a takeover takes.
func (c *cluster) awaitStandby(lead pod) {
	c.t.Helper()
	svctest.Succeeds(c.t, "a standby that reaches the API server", func() error {
		list, err := c.pods("app.kubernetes.io/component=control-plane")
		for _, p := range list {
			if p.Name == lead.Name || p.Ending || p.Node == lead.Node {
				continue
			}
			log, err := c.try(nil, "kubectl", "-n", namespace, "logs", "--tail=1", p.Name)
			if err == nil && strings.Contains(log, "waiting for the lease") {
				return nil
			}
			recent, err := c.try(nil, "kubectl", "-n", namespace, "logs", "--since=5s", p.Name)
			if err == nil && log != "" && recent == "" {
				return nil
			}
		}
		return errors.Join(errors.New("none"), err)
	})
}

// visitors is a client whose connections go to the gateways in turn, but for those of a node that
// is about to be lost: a load balancer leaves them out, too.
func (c *cluster) visitors(lost string) *http.Client {
	c.t.Helper()
	list := slices.DeleteFunc(c.gateways(), func(p pod) bool { return p.Node == lost })
	if len(list) == 0 {
		c.t.Fatal("no gateway")
	}
	next := make(chan int, 1)
	next <- 0
	web := &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{
		MaxIdleConnsPerHost: 64,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			i := <-next
			next <- i + 1
			return new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort(list[i%len(list)].IP, "8787"))
		},
	}}
	c.t.Cleanup(web.CloseIdleConnections)
	return web
}
