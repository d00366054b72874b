//go:build e2e

package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

// gatewayToken has the role gateway.
const gatewayToken = "a-token-of-the-gateways"

// withGateways starts a daemon that lets gateways of other machines in.
func withGateways(t *testing.T, env ...string) *daemon {
	t.Helper()
	d := newDaemon(t, append(lettingGateways(t), env...)...)
	if !d.start() {
		t.Fatalf("the daemon ended:\n%s", d.log.String())
	}
	return d
}

// lettingGateways are the settings of a daemon that lets gateways in.
func lettingGateways(t *testing.T) []string {
	t.Helper()
	tokens := filepath.Join(t.TempDir(), "tokens.yaml")
	text := "tokens:\n  - {name: edge, role: gateway, token: " + gatewayToken + "}\n"
	if err := os.WriteFile(tokens, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"SVC_TOKENS_FILE=" + tokens, "SVC_GATEWAYS_LISTEN=" + freeAddress(t)}
}

// gatewaysAt is where gateways reach the daemon.
func (d *daemon) gatewaysAt() (addr string) {
	for _, e := range d.env {
		if v, ok := strings.CutPrefix(e, "SVC_GATEWAYS_LISTEN="); ok {
			addr = v
		}
	}
	return addr
}

// freeAddress is an address on which nothing listens at the moment: the daemon has to have the
// same one after a restart.
func freeAddress(t *testing.T) string {
	t.Helper()
	return "127.0.0.1:" + freePort(t)
}

// remote is a process that serves as a gateway on another machine.
type remote struct {
	d      *daemon
	name   string
	at     string // where it reaches the daemon
	listen string
	status string
	log    *svctest.Buffer
	cmd    *exec.Cmd
	exited chan struct{}
}

// gatewayOf starts a gateway and waits until it serves.
func (d *daemon) gatewayOf(name string) *remote {
	d.t.Helper()
	return d.gatewayAt(name, d.gatewaysAt())
}

// gatewayAt starts a gateway that reaches the daemon at an address.
func (d *daemon) gatewayAt(name, at string) *remote {
	d.t.Helper()
	g := &remote{d: d, name: name, at: at, listen: freeAddress(d.t), status: freeAddress(d.t), log: &svctest.Buffer{}}
	d.t.Cleanup(func() {
		g.kill()
		if d.t.Failed() {
			d.t.Logf("the log of gateway %s:\n%s", name, g.log.String())
		}
	})
	g.start()
	return g
}

func (g *remote) start() {
	t := g.d.t
	t.Helper()
	token := filepath.Join(g.d.home, "gateway-token")
	if err := os.WriteFile(token, []byte(gatewayToken+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	g.cmd = exec.Command(program(), "gateway", "--control", "http://"+g.at, "--token-file", token, "--listen", g.listen, "--status", g.status, "--name", g.name)
	g.cmd.Env, g.cmd.Dir, g.cmd.Stdout, g.cmd.Stderr = g.d.env, g.d.home, g.log, g.log
	g.exited = make(chan struct{})
	if err := g.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func(cmd *exec.Cmd, exited chan struct{}) { _ = cmd.Wait(); close(exited) }(g.cmd, g.exited)
	g.is("ok")
}

// is waits until the gateway says that its state is this one.
func (g *remote) is(status string) {
	g.d.t.Helper()
	svctest.Succeeds(g.d.t, "gateway "+g.name+" to be "+status, func() error {
		a, err := fetch(g.d.t.Context(), &http.Client{Timeout: svctest.Patience}, http.MethodGet, "http://"+g.status+"/ready", "")
		if err != nil {
			return err
		}
		var r struct{ Status string }
		if err := json.Unmarshal([]byte(a.Body), &r); err != nil || r.Status != status {
			return fmt.Errorf("%d %s", a.Status, a.Body)
		}
		return nil
	})
}

func (g *remote) kill() {
	if g.cmd != nil {
		_ = g.cmd.Process.Kill()
		<-g.exited
	}
}

// stop sends SIGTERM and wants a good end.
func (g *remote) stop() {
	g.d.t.Helper()
	if err := g.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		g.d.t.Fatal(err)
	}
	svctest.Wait(g.d.t, "the gateway stops", g.exited)
	if code := g.cmd.ProcessState.ExitCode(); code != 0 {
		g.d.t.Errorf("the gateway ended with %d:\n%s", code, g.log.String())
	}
}

// http is a client that takes every host to the gateway and keeps its connections.
func (g *remote) http() *http.Client {
	t := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", g.listen)
	}}
	g.d.t.Cleanup(t.CloseIdleConnections)
	return &http.Client{Timeout: 2 * time.Minute, Transport: t}
}

// truth says which answers of a production host name are right: those of the last production, and
// while a promote is under way also those of the next.
type truth struct {
	mu       sync.Mutex
	promotes int
	allowed  map[string]bool
}

// now returns which versions may answer a request that begins now, as of each later moment.
func (w *truth) now() (promotes int, allowed string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for v := range w.allowed {
		allowed += v + " "
	}
	return w.promotes, allowed
}

func (w *truth) set(versions ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.promotes++
	w.allowed = map[string]bool{}
	for _, v := range versions {
		w.allowed[v] = true
	}
}

// load asks for production through a gateway until stop is closed.
func (w *truth) load(t *testing.T, g *remote, url string, answered *atomic.Int64, stop <-chan struct{}) {
	client := g.http()
	for n := 0; ; n++ {
		select {
		case <-stop:
			return
		default:
		}
		method, body := http.MethodGet, ""
		if n%3 == 0 {
			method, body = http.MethodPost, strings.Repeat("x", n%5*40_000)
		}
		before, allowed := w.now()
		a, err := fetch(t.Context(), client, method, url, body)
		after, later := w.now()
		switch {
		case err != nil || a.Status != http.StatusOK:
			t.Errorf("gateway %s: %v, %d %s %s", g.name, err, a.Status, a.Header.Get("Svc-Error"), a.Body)
			return
		case before == after && !strings.Contains(allowed, a.Body+" "), after-before == 1 && !strings.Contains(allowed+later, a.Body+" "):
			t.Errorf("gateway %s: %s answered, want one of %s(then %s)", g.name, a.Body, allowed, later)
			return
		}
		answered.Add(1)
	}
}

// versionWorker answers with its version.
func versionWorker(t *testing.T) string {
	return worker(t, helloConfig, map[string]string{"index.js": `export default { async fetch(request, env) {
		await request.text();
		return new Response(env.VERSION_ID);
	} }`})
}

// TestGateways: production changes 30 times while two gateways on other machines send requests.
// None fails, and after each promote none is answered by the version before, through either
// gateway. Then a gateway is killed and comes back.
func TestGateways(t *testing.T) {
	t.Parallel()
	d := withGateways(t)
	dir := versionWorker(t)
	url := d.deploy(dir, "--version", "v1").ProdURL
	d.deploy(dir, "--version", "v2")
	a, b := d.gatewayOf("a"), d.gatewayOf("b")

	w, stop := &truth{}, make(chan struct{})
	w.set("v1")
	var clients sync.WaitGroup
	var answered atomic.Int64
	for range 4 {
		for _, g := range []*remote{a, b} {
			clients.Go(func() { w.load(t, g, url, &answered, stop) })
		}
	}
	for i := range 30 {
		enough := answered.Load() + 20
		svctest.Eventually(t, "requests are answered", func() bool { return answered.Load() > enough || t.Failed() })
		next, last := []string{"v2", "v1"}[i%2], []string{"v1", "v2"}[i%2]
		w.set(last, next)
		d.makesProduction("hello", next)
		w.set(next)
	}
	close(stop)
	clients.Wait()
	t.Logf("%d requests were answered during 30 promotes", answered.Load())

	a.kill()
	if got, err := fetch(t.Context(), b.http(), http.MethodGet, url, ""); err != nil || got.Body != "v1" {
		t.Errorf("through the other gateway: %+v, %v", got, err)
	}
	a.start()
	if got, err := fetch(t.Context(), a.http(), http.MethodGet, url, ""); err != nil || got.Body != "v1" {
		t.Errorf("after a restart of the gateway: %+v, %v", got, err)
	}
	d.seesRequests()
	a.stop()
	b.stop()
}

// makesProduction promotes a version and waits for the end.
func (d *daemon) makesProduction(project, version string) {
	d.t.Helper()
	var p api.Promotion
	begun, err := d.client().Promote(d.t.Context(), project, version, api.PromoteVersion{})
	if err == nil {
		p, err = d.client().WaitPromotion(d.t.Context(), project, begun.OperationID)
	}
	if err != nil || p.Status != api.PromotionStatusDone {
		d.t.Fatalf("promote to %s: %+v, %v", version, p, err)
	}
}

// seesRequests checks that the daemon logs the requests of gateways.
func (d *daemon) seesRequests() {
	d.t.Helper()
	svctest.Succeeds(d.t, "requests of gateways to be in the log", func() error {
		out, errs, code := d.run(d.home, "logs", "--project", "hello", "v1", "--tail", "5", "-o", "json")
		if code != 0 || !strings.Contains(out, `"request"`) {
			return fmt.Errorf("exit %d: %s%s", code, out, errs)
		}
		return nil
	})
}

// TestGatewayRestart: while the daemon is killed and started again, requests through a gateway wait
// for it and are answered; until then the gateway serves on and says that its routes are old.
func TestGatewayRestart(t *testing.T) {
	t.Parallel()
	d := withGateways(t)
	url := d.deploy(versionWorker(t), "--version", "v1").ProdURL
	g := d.gatewayOf("a")
	client := g.http()
	d.kill()
	g.is("stale")
	type result struct {
		answer
		err error
	}
	results := make(chan result, 4)
	for range cap(results) {
		go func() {
			a, err := patiently(func() (answer, error) { return fetch(t.Context(), client, http.MethodGet, url, "") })
			results <- result{a, err}
		}()
	}
	if !d.start() {
		t.Fatalf("the daemon does not start again:\n%s", d.log.String())
	}
	for range cap(results) {
		if r := <-results; r.err != nil || r.Body != "v1" {
			t.Errorf("%+v", r)
		}
	}
	g.is("ok")
	g.stop()
}

// TestGatewayKinds: static files, websockets, versions that sleep and metrics work through a gateway
// as through the daemon's own.
func TestGatewayKinds(t *testing.T) {
	t.Parallel()
	d := withGateways(t, "SVC_SLEEP_IDLE=1", "SVC_SLEEP_PRODUCTION=1")
	v := d.deploy(worker(t, `{ "name": "hello", "main": "index.js", "compatibility_date": "2026-11-01", "assets": { "directory": "public" } }`, map[string]string{
		"public/page.txt": "a page",
		"index.js":        `export default { fetch: () => new Response("a worker") }`,
	}), "--version", "v1")
	g := d.gatewayOf("a")
	client := g.http()
	get := func(url string) answer {
		t.Helper()
		a, err := patiently(func() (answer, error) { return fetch(t.Context(), client, http.MethodGet, url, "") })
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	if a := get(v.PreviewURL + "/page.txt"); a.Body != "a page" || len(a.Header.Values("Svc-Version")) != 1 {
		t.Errorf("a static file: %+v", a)
	}
	if a := get(v.ProdURL + "/other"); a.Body != "a worker" {
		t.Errorf("the worker beside static files: %+v", a)
	}

	socket := d.deploy(worker(t, `{ "name": "talk", "main": "index.js", "compatibility_date": "2026-11-01" }`, map[string]string{
		"index.js": `export default { fetch(request) {
			if (request.headers.get("Upgrade") !== "websocket") return new Response("awake");
			const [client, server] = Object.values(new WebSocketPair());
			server.accept();
			server.addEventListener("message", (e) => server.send("echo " + e.data));
			return new Response(null, { status: 101, webSocket: client });
		} }`,
	}), "--version", "v1")
	d.sleeps(socket)
	if a := get(socket.PreviewURL); a.Body != "awake" {
		t.Errorf("a version that sleeps: %+v", a)
	}
	g.echoes(socket.PreviewURL)
	metrics, err := fetch(t.Context(), &http.Client{Timeout: svctest.Patience}, http.MethodGet, "http://"+g.status+"/metrics", "")
	if err != nil || !strings.Contains(metrics.Body, `svc_gateway_requests_total{code="200",role="preview"}`) || !strings.Contains(metrics.Body, "svc_gateway_generation ") ||
		!strings.Contains(metrics.Body, `svc_gateway_ways_total{way="direct"} 0`) || strings.Contains(metrics.Body, `svc_gateway_ways_total{way="server"} 0`) {
		t.Errorf("%v %s", err, metrics.Body)
	}
	g.stop()
}

// echoes exchanges a message over a websocket.
func (g *remote) echoes(url string) {
	t := g.d.t
	t.Helper()
	nc, err := new(net.Dialer).DialContext(t.Context(), "tcp", g.listen)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	_ = nc.SetDeadline(time.Now().Add(svctest.Patience))
	host := strings.TrimPrefix(url, "http://")
	fmt.Fprintf(nc, "GET / HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n", host)
	in := bufio.NewReader(nc)
	if resp, err := http.ReadResponse(in, nil); err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("%v, %v", resp, err)
	}
	fmt.Fprint(nc, "\x81\x82\x00\x00\x00\x00hi") // a masked text frame
	got := make([]byte, len("\x81\x07echo hi"))
	if _, err := in.Read(got); err != nil || string(got) != "\x81\x07echo hi" {
		t.Errorf("%q, %v", got, err)
	}
}
