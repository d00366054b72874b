//go:build e2e

package e2e

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

// The numbers of TestUnderAttack are small by default. `make torture` has the full ones.
var (
	attackBodies  = flag.Int("attack.bodies", 100, "clients of TestUnderAttack that send a body slowly")
	attackReaders = flag.Int("attack.readers", 40, "clients of TestUnderAttack that do not read their response")
	attackTime    = flag.Duration("attack.duration", 0, "minimum duration of TestUnderAttack")
	attackP99     = flag.Duration("attack.p99", 0, "maximum of the 99th percentile of response times during TestUnderAttack; 0 for none")
)

// attackProbes is the minimum number of requests to the versions and the API that are
// measured during the attack.
const attackProbes = 200

// attacked is the worker that is attacked: it reads bodies, and streams without end.
const attacked = `
export default {
  async fetch(req) {
    const path = new URL(req.url).pathname
    if (path === '/body') return new Response(String((await req.text()).length))
    if (path === '/endless') {
      const piece = new Uint8Array(65536).fill(97)
      return new Response(new ReadableStream({ pull(c) { c.enqueue(piece) } }))
    }
    return new Response("hello")
  }
}`

// attacker is one kind of attack. It runs until ctx ends, and calls ready for each of
// its clients that has begun.
type attacker struct {
	name    string
	clients int
	attack  func(ctx context.Context, d *daemon, ready func())
}

func attackers(greedy map[string]api.Version) []attacker {
	list := []attacker{
		{"slow bodies", *attackBodies, func(ctx context.Context, d *daemon, ready func()) {
			d.hold(ctx, "POST /body HTTP/1.1\r\nHost: v1.attacked.e2e.test\r\nContent-Length: 1000000\r\n\r\na", ready)
		}},
		{"stalled readers", *attackReaders, func(ctx context.Context, d *daemon, ready func()) {
			d.hold(ctx, "GET /endless HTTP/1.1\r\nHost: v1.attacked.e2e.test\r\n\r\n", ready)
		}},
	}
	for name, v := range greedy {
		if name == "loop" && *attackTime == 0 { // ten seconds of a processor: TestWorkersThatTakeEverything has one
			continue
		}
		list = append(list, attacker{"a greedy worker: " + name, 1, func(ctx context.Context, d *daemon, ready func()) {
			ready()
			patient := &http.Client{Transport: d.transport()} // the supervisor ends what takes too long
			for ctx.Err() == nil {
				_, _ = fetch(ctx, patient, http.MethodGet, attackURL(v), "")
				pause(ctx, 100*time.Millisecond)
			}
		}})
	}
	return list
}

// hold sends a request and then neither sends nor reads, again and again.
func (d *daemon) hold(ctx context.Context, request string, ready func()) {
	var once sync.Once
	for ctx.Err() == nil {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", strings.TrimPrefix(d.note.Gateway, "http://"))
		if err == nil {
			_, err = io.WriteString(conn, request)
			once.Do(ready)
			if err == nil {
				pause(ctx, 90*time.Second) // longer than SVC_CLIENT_TIMEOUT
			}
			_ = conn.Close()
		}
		pause(ctx, 100*time.Millisecond)
	}
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// TestUnderAttack attacks one version through the gateway, and has others take all memory,
// time, disk and log. Meanwhile another version and the API answer each request; afterwards
// the attacked versions serve again.
func TestUnderAttack(t *testing.T) {
	t.Parallel()
	d := started(t, "SVC_VERSION_DISK_MB=256")
	greedy := d.greedy()
	for project, source := range map[string]string{"attacked": attacked, "other": helloScript} {
		d.project(project)
		d.push(project, api.CreateVersion{ID: "v1"}, script(t, source))
		if v := d.ended(project, "v1"); v.Status != api.VersionStatusReady {
			t.Fatal(v.Error)
		}
	}
	ctx, end := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer func() { end(); running.Wait() }()
	for _, a := range attackers(greedy) {
		var began atomic.Int64
		for range a.clients {
			running.Go(func() { a.attack(ctx, d, func() { began.Add(1) }) })
		}
		svctest.Eventually(t, fmt.Sprintf("%d clients with %s", a.clients, a.name), func() bool { return int(began.Load()) == a.clients })
	}
	targets := map[string]string{"version": d.note.Gateway + "/", "API": d.note.API + "/v1/health"}
	var probes sync.WaitGroup
	for name, url := range targets {
		probes.Go(func() { d.probe(t, name, url) })
	}
	probes.Wait()
	end()
	running.Wait()
	over := time.Now()
	d.serves("http://v1.attacked.e2e.test/", "hello")
	for _, v := range greedy {
		d.serves(v.PreviewURL, "serves")
	}
	took := time.Since(over)
	t.Logf("all versions serve %v after the attack", took)
	if *attackP99 > 0 && took > time.Minute {
		t.Errorf("the versions served only %v after the attack", took)
	}
}

// probe sends requests one after another. Each must be answered with 200.
func (d *daemon) probe(t *testing.T, name, url string) {
	var took []time.Duration
	began := time.Now()
	for len(took) < attackProbes || time.Since(began) < *attackTime {
		start := time.Now()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Error(err)
			return
		}
		if name == "version" {
			req.Host = "v1.other.e2e.test"
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Errorf("%s, request %d: %v", name, len(took), err)
			return
		}
		_, err = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Errorf("%s, request %d: %s %v %v", name, len(took), resp.Status, resp.Header, err)
			return
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	p99 := took[len(took)*99/100]
	t.Logf("%s: %d requests, median %v, p99 %v, maximum %v", name, len(took), took[len(took)/2], p99, took[len(took)-1])
	if *attackP99 > 0 && p99 > *attackP99 {
		t.Errorf("%s: p99 %v, want at most %v", name, p99, *attackP99)
	}
}
