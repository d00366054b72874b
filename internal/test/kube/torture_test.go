//go:build kube

package kube

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

var (
	tortureFor        = flag.Duration("torture", time.Minute, "how long TestTorture breaks the cluster")
	tortureVersions   = flag.Int("torture.versions", 6, "versions that are written to meanwhile")
	tortureDurability = flag.String("torture.durability", "sync", "SVC_DURABILITY: sync or async")
	tortureSeed       = flag.Uint64("torture.seed", 1, "seed of the faults")
)

// lossSpan is the time that the writes which one fault costs in async mode may span: two windows and a
// second (docs/guide/storage.md), and the time of a write on a busy machine.
const lossSpan = 4 * time.Second

// balancer leads connections to gateways that accept them, as a load balancer with checks.
type balancer struct {
	mu   sync.Mutex
	list []string
}

func (b *balancer) watch(ctx context.Context, c *cluster) {
	for ctx.Err() == nil {
		list, err := c.pods("app.kubernetes.io/component=gateway")
		var alive []string
		for _, p := range list {
			addr := net.JoinHostPort(p.IP, "8787")
			conn, failed := (&net.Dialer{Timeout: 300 * time.Millisecond}).DialContext(ctx, "tcp", addr)
			if failed == nil {
				_ = conn.Close()
				alive = append(alive, addr)
			}
		}
		if err == nil {
			b.mu.Lock()
			b.list = alive
			b.mu.Unlock()
		}
		select {
		case <-ctx.Done():
		case <-time.After(500 * time.Millisecond):
		}
	}
}

func (b *balancer) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	b.mu.Lock()
	list := slices.Clone(b.list)
	b.mu.Unlock()
	if len(list) == 0 {
		return nil, errors.New("no gateway is there")
	}
	return (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", list[rand.N(len(list))])
}

// TestTorture breaks the cluster at random while versions are written to: pods are deleted with and
// without grace, nodes are cut off and killed, leaders are lost. No acknowledged write is lost in
// sync mode, and at most those of two windows and a second by a fault in async mode; at the end each version
// has one pod, and each claimed pod its version.
func TestTorture(t *testing.T) {
	c := up(t, *tortureDurability)
	lead := c.leader("")
	ledger := filepath.Join(c.root, "internal/test/e2e/testdata/ledger")
	versions := make([]api.Version, *tortureVersions)
	for i := range versions {
		versions[i], _ = c.deploy(lead, ledger, "--version", fmt.Sprintf("t%d", i))
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	b := &balancer{}
	go b.watch(ctx, c)
	svctest.Eventually(t, "gateways", func() bool { b.mu.Lock(); defer b.mu.Unlock(); return len(b.list) == 3 })
	web := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DialContext: b.dial, MaxIdleConnsPerHost: 16}}
	defer web.CloseIdleConnections()
	writers := make([]*load, len(versions))
	for i, v := range versions {
		writers[i] = write(t, web, strings.TrimSuffix(v.PreviewURL, "/"), 1)
		writers[i].await(t, 5)
	}
	faults, counts := c.torture(versions)
	lists := make([][]sample, len(versions))
	for i, w := range writers {
		w.await(t, 5) // each version answers again
		lists[i] = w.end()
	}
	acknowledged, lost, spans := 0, 0, []time.Duration(nil)
	for i, v := range versions {
		var all sample
		svctest.Succeeds(t, "the lines of "+v.ID, func() error {
			if all = ask(t.Context(), web, http.MethodGet, strings.TrimSuffix(v.PreviewURL, "/")+"/all", ""); all.status != http.StatusOK {
				return fmt.Errorf("%d %s %w", all.status, all.body, all.err)
			}
			return nil
		})
		kept := func(s sample) bool { return strings.Contains(all.body, `"`+s.body+`"`) }
		n, losses := lossesOf(lists[i], kept)
		acknowledged += n
		for _, l := range losses {
			lost += l.number
			spans = append(spans, l.last.Sub(l.first))
			if l.last.Sub(l.first) > lossSpan || *tortureDurability == "sync" {
				t.Errorf("%s lost %d acknowledged writes of %s, from %s on; faults: %s", v.ID, l.number, l.last.Sub(l.first), l.first.Format(time.TimeOnly), around(l, faults))
			}
		}
	}
	slices.Sort(spans)
	t.Logf("%s: %d versions, %s: %v; %d writes acknowledged, %d lost in %d groups, which span %v", *tortureDurability, len(versions), *tortureFor, counts, acknowledged, lost, len(spans), spans)
	c.settled(versions)
}

// loss is acknowledged writes of one version that are lost, without a kept one among them.
type loss struct {
	number      int
	first, last time.Time // first was sent, last was acknowledged
}

// lossesOf returns the number of acknowledged writes in the list of one writer, and the lost ones.
func lossesOf(list []sample, kept func(sample) bool) (acknowledged int, losses []loss) {
	open := false
	for _, s := range list {
		if s.err != nil || s.status != http.StatusOK {
			continue
		}
		acknowledged++
		switch {
		case kept(s):
			open = false
		case open:
			l := &losses[len(losses)-1]
			l.number++
			l.last = s.ended
		default:
			losses = append(losses, loss{1, s.began, s.ended})
			open = true
		}
	}
	return acknowledged, losses
}

// fault is one that the test made; a command takes its time.
type fault struct {
	what         string
	began, ended time.Time
}

// around returns the faults near to a loss.
func around(l loss, faults []fault) (list []string) {
	for _, f := range faults {
		if f.ended.After(l.first.Add(-10*time.Second)) && f.began.Before(l.last.Add(10*time.Second)) {
			list = append(list, fmt.Sprintf("%s %s to %s", f.what, f.began.Format(time.TimeOnly), f.ended.Format(time.TimeOnly)))
		}
	}
	return list
}

// torture breaks things until the time is over, and mends them.
func (c *cluster) torture(versions []api.Version) (faults []fault, counts map[string]int) {
	rng := rand.New(rand.NewPCG(*tortureSeed, 0))
	counts = map[string]int{}
	do := func(what string, f func()) {
		began := time.Now()
		f()
		faults = append(faults, fault{what, began, time.Now()})
	}
	for end := time.Now().Add(*tortureFor); time.Now().Before(end); {
		version := versions[rng.IntN(len(versions))].ID
		node := fmt.Sprint(1 + rng.IntN(3))
		what := []string{"drain", "delete", "cut", "kill", "leader"}[rng.IntN(5)]
		counts[what]++
		switch what {
		case "drain":
			do(what+" of "+version, func() { c.deletePod(c.podOf(version)) })
		case "delete":
			do(what+" of "+version, func() { c.deletePod(c.podOf(version), "--grace-period=0", "--force") })
		case "cut", "kill":
			do(what+" of node "+node, func() { c.run(nil, "scripts/kube/cluster.sh", what, node) })
			c.pause(rng, 3, 12)
			back := map[string]string{"cut": "heal", "kill": "start"}[what]
			do(back+" of node "+node, func() { c.run(nil, "scripts/kube/cluster.sh", back, node) })
		case "leader":
			do(what, func() {
				if list, err := c.pods("svcctl.dev/leader=true"); err == nil && len(list) > 0 {
					c.deletePod(&list[0], "--grace-period=0", "--force")
				}
			})
		}
		c.pause(rng, 2, 8)
	}
	return faults, counts
}

// deletePod deletes a pod, which may be gone, and does not wait for its end.
func (c *cluster) deletePod(p *pod, args ...string) {
	if p != nil {
		_, _ = c.try(nil, append([]string{"kubectl", "-n", namespace, "delete", "pod", p.Name, "--wait=false"}, args...)...)
	}
}

// pause waits between two faults: what follows one is a part of the test.
func (c *cluster) pause(rng *rand.Rand, from, to int) {
	select {
	case <-c.t.Context().Done():
	case <-time.After(time.Duration(from)*time.Second + time.Duration(rng.Int64N(int64(time.Duration(to-from)*time.Second)))):
	}
}

// settled waits until each version has one pod, and each claimed pod its version.
func (c *cluster) settled(versions []api.Version) {
	c.t.Helper()
	want := map[string]bool{}
	for _, v := range versions {
		want[v.ID] = true
	}
	svctest.Succeeds(c.t, "one pod for each version", func() error {
		list, err := c.pods("svcctl.dev/version")
		if err != nil {
			return err
		}
		have := map[string]int{}
		for _, p := range list {
			have[p.Labels["svcctl.dev/version"]]++
		}
		for v := range want {
			if have[v] != 1 {
				return fmt.Errorf("%s has %d pods", v, have[v])
			}
		}
		if len(have) != len(want) {
			return fmt.Errorf("%v", have)
		}
		return nil
	})
}
