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

// lossWindow is how long before a fault an acknowledged write may be lost in async mode: the window
// of one second, and as long again until the worker host notices that its writes do not arrive.
const lossWindow = 4 * time.Second

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
	return (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", list[rand.N(len(list))]) //nolint:gosec // not a secret
}

// TestTorture breaks the cluster at random while versions are written to: pods are deleted with and
// without grace, nodes are cut off and killed, leaders are lost. No acknowledged write is lost in
// sync mode, and at most those of the window before a fault in async mode; at the end each version
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
	acknowledged, lost, tooOld := 0, 0, 0
	for i, v := range versions {
		var all sample
		svctest.Succeeds(t, "the lines of "+v.ID, func() error {
			if all = ask(t.Context(), web, http.MethodGet, strings.TrimSuffix(v.PreviewURL, "/")+"/all", ""); all.status != http.StatusOK {
				return fmt.Errorf("%d %s %w", all.status, all.body, all.err)
			}
			return nil
		})
		for _, s := range lists[i] {
			if s.err != nil || s.status != http.StatusOK {
				continue
			}
			acknowledged++
			if !strings.Contains(all.body, `"`+s.body+`"`) {
				lost++
				if !before(s.ended, faults) {
					tooOld++
				}
			}
		}
	}
	t.Logf("%s: %d versions, %s: %v; %d writes acknowledged, %d lost, %d of them not within %s before a fault", *tortureDurability, len(versions), *tortureFor, counts, acknowledged, lost, tooOld, lossWindow)
	if tooOld > 0 || lost > 0 && *tortureDurability == "sync" {
		t.Errorf("acknowledged writes are lost")
	}
	c.settled(versions)
}

// before reports whether a time is within lossWindow before a fault.
func before(at time.Time, faults []time.Time) bool {
	return slices.ContainsFunc(faults, func(f time.Time) bool { return at.Before(f.Add(time.Second)) && f.Sub(at) < lossWindow })
}

// torture breaks things until the time is over, and mends them.
func (c *cluster) torture(versions []api.Version) (faults []time.Time, counts map[string]int) {
	rng := rand.New(rand.NewPCG(*tortureSeed, 0)) //nolint:gosec // not a secret
	counts = map[string]int{}
	for end := time.Now().Add(*tortureFor); time.Now().Before(end); {
		version := versions[rng.IntN(len(versions))].ID
		node := fmt.Sprint(1 + rng.IntN(3))
		faults = append(faults, time.Now())
		what := []string{"drain", "delete", "cut", "kill", "leader"}[rng.IntN(5)]
		counts[what]++
		switch what {
		case "drain", "delete":
			if p := c.podOf(version); p != nil {
				args := []string{"kubectl", "-n", namespace, "delete", "pod", p.Name, "--wait=false"}
				if what == "delete" {
					args = append(args, "--grace-period=0", "--force")
				}
				_, _ = c.try(nil, args...) // it may be gone
			}
		case "cut":
			c.run(nil, "scripts/kube/cluster.sh", "cut", node)
			c.pause(rng, 3, 12)
			faults = append(faults, time.Now())
			c.run(nil, "scripts/kube/cluster.sh", "heal", node)
		case "kill":
			c.run(nil, "scripts/kube/cluster.sh", "kill", node)
			c.pause(rng, 3, 12)
			c.run(nil, "scripts/kube/cluster.sh", "start", node)
		case "leader":
			if list, err := c.pods("svcctl.dev/leader=true"); err == nil && len(list) > 0 {
				_, _ = c.try(nil, "kubectl", "-n", namespace, "delete", "pod", list[0].Name, "--grace-period=0", "--force")
			}
		}
		c.pause(rng, 2, 8)
	}
	return faults, counts
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
