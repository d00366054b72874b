//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/edge/routefeed"
	"github.com/svcctl/svcctl/internal/fleet/relay"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

// directFleet is a daemon whose gateways reach versions on n machines without it.
func directFleet(t *testing.T, n int, env ...string) (*daemon, []*machine) {
	t.Helper()
	return fleetWith(t, n, []string{"--listen", "127.0.0.1:0"}, append(lettingGateways(t), env...)...)
}

// wire carries the connections of a gateway to the daemon. Those for routes and reports can be cut, or
// all.
type wire struct {
	addr string

	mu     sync.Mutex // guards the fields below
	routes []net.Conn
	others []net.Conn
	off    cutOff
}

// cutOff says what is cut.
type cutOff int

const (
	nothing cutOff = iota
	routes
	everything
)

func newWire(t *testing.T, to string) *wire {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{addr: l.Addr().String()}
	var carrying sync.WaitGroup
	carrying.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			carrying.Go(func() { w.carry(near, to) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		w.cut(everything)
		carrying.Wait()
	})
	return w
}

// carry carries a connection, whose first bytes say what it is for.
func (w *wire) carry(near net.Conn, to string) {
	defer near.Close()
	_ = near.SetReadDeadline(time.Now().Add(svctest.Patience))
	first := make([]byte, 4<<10)
	n, err := near.Read(first)
	if err != nil {
		return
	}
	_ = near.SetReadDeadline(time.Time{})
	far, err := new(net.Dialer).DialContext(context.Background(), "tcp", to)
	if err != nil {
		return
	}
	defer far.Close()
	if !w.add(near, far, bytes.HasPrefix(first, []byte("GET "+relay.Path))) {
		return
	}
	if _, err := far.Write(first[:n]); err != nil {
		return
	}
	back := make(chan struct{})
	go func() {
		defer close(back)
		_, _ = io.Copy(near, far)
		_ = near.Close()
	}()
	_, _ = io.Copy(far, near)
	_ = far.Close()
	<-back
}

func (w *wire) add(near, far net.Conn, isRelay bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.off == everything || w.off == routes && !isRelay {
		return false
	}
	if isRelay {
		w.others = append(w.others, near, far)
	} else {
		w.routes = append(w.routes, near, far)
	}
	return true
}

// cut closes connections and lets others of their kind not through, until the next cut.
func (w *wire) cut(off cutOff) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.off = off
	var ended []net.Conn
	if off >= routes {
		ended, w.routes = w.routes, nil
	}
	if off == everything {
		ended, w.others = append(ended, w.others...), nil
	}
	for _, c := range ended {
		_ = c.Close()
	}
}

// TestDirect: production changes 20 times while two gateways send requests to the machines of its
// versions. None fails, and after each promote none is answered by the version before. In half of the
// promotes one gateway is cut off from the daemon: it has old routes, and its requests wait. Machines
// answer only connections that show the secret of a version's start.
func TestDirect(t *testing.T) {
	t.Parallel()
	d, _ := directFleet(t, 2)
	dir := versionWorker(t)
	v1 := d.deploy(dir, "--version", "v1")
	d.deploy(dir, "--version", "v2")
	cable := newWire(t, d.gatewaysAt())
	prompt, late := d.gatewayOf("prompt"), d.gatewayAt("late", cable.addr)
	late.servesAlone(cable, v1.ProdURL)

	w, stop := &truth{}, make(chan struct{})
	w.set("v1")
	var clients sync.WaitGroup
	var answered atomic.Int64
	for range 3 {
		for _, g := range []*remote{prompt, late} {
			clients.Go(func() { w.load(t, g, v1.ProdURL, &answered, stop) })
		}
	}
	for i := range 20 {
		enough := answered.Load() + 20
		svctest.Eventually(t, "requests are answered", func() bool { return answered.Load() > enough || t.Failed() })
		next, last := []string{"v2", "v1"}[i%2], []string{"v1", "v2"}[i%2]
		if i%4 > 1 {
			cable.cut(routes)
		}
		w.set(last, next)
		d.makesProduction("hello", next)
		w.set(next)
		cable.cut(nothing)
	}
	close(stop)
	clients.Wait()
	t.Logf("%d requests were answered during 20 promotes", answered.Load())
	late.servesAlone(cable, v1.ProdURL)

	for name, to := range d.directKeys(t, v1) {
		c, err := relay.DialMachine(t.Context(), to)
		if err == nil {
			c.Close()
		}
		if wrong := name != "right"; wrong != (err != nil) || wrong && name != "pin" && !errors.Is(err, relay.ErrNotAdmitted) {
			t.Errorf("%s: %v", name, err)
		}
	}
	prompt.stop()
	late.stop()
}

// servesAlone waits until the gateway serves URLs while all of its connections to the daemon are
// cut, and then until it serves them directly with these connections, too.
func (g *remote) servesAlone(cable *wire, urls ...string) {
	g.d.t.Helper()
	client := g.http()
	svctest.Succeeds(g.d.t, "gateway "+g.name+" to reach the machine without the daemon", func() error {
		g.is("ok") // else it has no time to learn how to reach the machine
		cable.cut(everything)
		defer cable.cut(nothing)
		ctx, cancel := context.WithTimeout(g.d.t.Context(), 2*time.Second)
		defer cancel()
		for _, url := range urls {
			if a, err := fetch(ctx, client, http.MethodGet, url, ""); err != nil || a.Status != http.StatusOK {
				return fmt.Errorf("%d %s %w", a.Status, a.Body, err)
			}
		}
		return nil
	})
	g.is("ok")
	for _, url := range urls {
		svctest.Succeeds(g.d.t, "gateway "+g.name+" to reach the machine directly", func() error {
			before := g.relayed()
			if a, err := fetch(g.d.t.Context(), client, http.MethodGet, url, ""); err != nil || a.Status != http.StatusOK {
				return fmt.Errorf("%d %s %w", a.Status, a.Body, err)
			}
			if after := g.relayed(); after != before {
				return fmt.Errorf("requests through the daemon: %s, then %s", before, after)
			}
			return nil
		})
	}
}

// relayed is the number of the gateway's requests that went through the daemon.
func (g *remote) relayed() string {
	g.d.t.Helper()
	a, err := fetch(g.d.t.Context(), &http.Client{Timeout: svctest.Patience}, http.MethodGet, "http://"+g.status+"/metrics", "")
	if err != nil {
		g.d.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(a.Body, `svc_gateway_ways_total{way="server"} `)
	n, _, _ := strings.Cut(rest, "\n")
	return n
}

// directKeys returns where the machine of a version is reached, with right and wrong secrets.
func (d *daemon) directKeys(t *testing.T, v api.Version) map[string]relay.Destination {
	t.Helper()
	right := d.destination(t, svc.Ref{Project: v.ProjectID, Version: v.ID})
	key, none, pin := right, right, right
	key.Key, none.Key, pin.Pin = strings.Repeat("A", len(right.Key)), "", strings.Repeat("0", len(right.Pin))
	return map[string]relay.Destination{"right": right, "a wrong key": key, "no key": none, "pin": pin}
}

// destination reads where gateways reach a version from their routes.
func (d *daemon) destination(t *testing.T, ref svc.Ref) relay.Destination {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), svctest.Patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+d.gatewaysAt()+routefeed.FeedPath+"?instance=test", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+gatewayToken)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	for lines := json.NewDecoder(answer.Body); ; {
		var l routefeed.Line
		if err := lines.Decode(&l); err != nil {
			t.Fatal(err)
		}
		if l.State != nil && l.Project == ref.Project && l.Version == ref.Version {
			return relay.Destination{Ref: ref, Key: l.State.Key, Address: l.State.Direct, Pin: l.State.Pin}
		}
	}
}

// TestDirectMove: the machine of a version that is used through a gateway gets SIGTERM: requests wait,
// and none fails or is answered by two machines.
func TestDirectMove(t *testing.T) {
	t.Parallel()
	d, machines := directFleet(t, 2)
	v1 := d.deploy(ledgerDir, "--version", "v1")
	g := d.gatewayOf("a")
	b := &daemonPair{t: t, daemons: []*daemon{d}, url: strings.TrimSuffix(v1.PreviewURL, "/"), client: g.http()}
	writers := b.write(d, 4)
	b.await(writers, 50)
	before := d.machineOf(v1)
	for _, m := range machines {
		if m.name == before {
			if err := m.cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			svctest.Wait(t, "the machine to end", m.exited)
		}
	}
	b.await(writers, 50)
	lines := make([]string, 0, 1000)
	for _, l := range writers.end() {
		lines = append(lines, l.text)
	}
	if len(writers.failed) > 0 {
		t.Errorf("%d requests failed in the move, first: %s", len(writers.failed), writers.failed[0])
	}
	d.checkLines(v1.PreviewURL, lines)
	g.stop()
}

// TestDirectSleep: a version that is used only through a gateway and its machine does not fall asleep,
// and does so when nothing uses it.
func TestDirectSleep(t *testing.T) {
	t.Parallel()
	d, _ := directFleet(t, 1, "SVC_SLEEP_IDLE=4s")
	dir := versionWorker(t)
	d.deploy(dir, "--version", "v1") // production does not sleep
	v2 := d.deploy(dir, "--version", "v2")
	g := d.gatewayOf("a")
	client := g.http()
	get := func() {
		t.Helper()
		if a, err := patiently(func() (answer, error) { return fetch(t.Context(), client, http.MethodGet, v2.PreviewURL, "") }); err != nil || a.Body != "v2" {
			t.Fatalf("%+v, %v", a, err)
		}
	}
	used := func() (gap time.Duration) {
		for last, end := time.Now(), time.Now().Add(12*time.Second); last.Before(end); {
			get()
			now := time.Now()
			gap, last = max(gap, now.Sub(last)), now
		}
		return gap
	}
	for {
		get()
		before := d.hostOf(v2)
		if gap := used(); gap > 2*time.Second {
			t.Logf("the machine is busy: %s without a request", gap)
			continue
		}
		if now := d.hostOf(v2); now != before || now == 0 {
			t.Errorf("it runs in process %d, want %d", now, before)
		}
		break
	}
	d.sleeps(v2)
	get()
	g.stop()
}

// visitors send requests through a gateway until their end.
type visitors struct {
	g        *remote
	answered atomic.Int64
	stop     chan struct{}
	all      sync.WaitGroup

	mu      sync.Mutex // guards the fields below
	failed  []string
	longest time.Duration
}

// visit has four visitors ask for a URL.
func (g *remote) visit(url string) *visitors {
	v := &visitors{g: g, stop: make(chan struct{})}
	client := g.http()
	for range 4 {
		v.all.Go(func() {
			for {
				select {
				case <-v.stop:
					return
				default:
				}
				began := time.Now()
				a, err := fetch(g.d.t.Context(), client, http.MethodGet, url, "")
				v.note(a, err, time.Since(began))
			}
		})
	}
	return v
}

func (v *visitors) note(a answer, err error, took time.Duration) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err != nil || a.Status != http.StatusOK {
		v.failed = append(v.failed, fmt.Sprintf("%d %s %s %v", a.Status, a.Header.Get("Svc-Error"), a.Body, err))
		return
	}
	v.longest = max(v.longest, took)
	v.answered.Add(1)
}

// await waits for n more answers.
func (v *visitors) await(n int64) {
	v.g.d.t.Helper()
	enough := v.answered.Load() + n
	svctest.Eventually(v.g.d.t, "requests are answered", func() bool { return v.answered.Load() > enough })
}

// end ends the visits, of which none may have failed.
func (v *visitors) end(during string) {
	v.g.d.t.Helper()
	close(v.stop)
	v.all.Wait()
	v.g.d.t.Logf("%d requests were answered during %s, the longest after %s", v.answered.Load(), during, v.longest.Round(time.Millisecond))
	if len(v.failed) > 0 {
		v.g.d.t.Errorf("%d requests failed during %s, first: %s", len(v.failed), during, v.failed[0])
	}
}

// TestDirectLeader: the daemon is killed while requests pass a gateway and a machine: they are answered
// without it, and none fails while the next one takes the version back.
func TestDirectLeader(t *testing.T) {
	t.Parallel()
	d, _ := directFleet(t, 1)
	v1 := d.deploy(versionWorker(t), "--version", "v1")
	cable := newWire(t, d.gatewaysAt())
	g := d.gatewayAt("a", cable.addr)
	g.servesAlone(cable, v1.ProdURL, v1.PreviewURL)
	production, own := g.visit(v1.ProdURL), g.visit(v1.PreviewURL)
	production.await(50)
	pid := d.hostOf(v1)
	d.kill()
	production.await(10)
	own.await(10)
	if !d.start() {
		t.Fatal(d.log.String())
	}
	g.is("ok")
	production.await(50)
	own.await(50)
	production.end("the restart of the daemon")
	own.end("the restart of the daemon")
	svctest.Succeeds(t, "the next daemon to have the version", func() error {
		if now := d.hostOf(v1); now != pid {
			return fmt.Errorf("it runs in process %d, want %d", now, pid)
		}
		return nil
	})
	g.stop()
}
