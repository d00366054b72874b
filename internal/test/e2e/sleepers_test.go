//go:build e2e

package e2e

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

var (
	sleepers     = flag.Int("sleepers", 3, "versions of TestSleepers")
	sleepersTime = flag.Duration("sleepers.duration", 0, "time for which TestSleepers starts 20 versions a second")
)

// TestSleepers: many versions that sleep cost no processes, the next daemon answers for them,
// and each starts for its request. It logs figures; -sleepers=1000 -sleepers.duration=30s
// -installed=DIR is the long form.
func TestSleepers(t *testing.T) {
	t.Parallel()
	d := newDaemon(t, "SVC_SLEEP_IDLE=1", "SVC_SLEEP_PRODUCTION=1")
	if *installed != "" {
		d.bin = filepath.Join(*installed, "svcctl")
	}
	if !d.start() {
		t.Fatalf("the daemon ended:\n%s", d.log.String())
	}
	urls := d.many(*sleepers)
	d.allAsleep(*sleepers)
	t.Logf("%d versions sleep; %s", *sleepers, d.memory())
	d.kill()
	began := time.Now()
	if !d.start() {
		t.Fatalf("the daemon does not start again:\n%s", d.log.String())
	}
	d.wakes(urls[:1])
	t.Logf("a restart to its first answer took %s; %s", time.Since(began), loadAverage())
	d.allAsleep(*sleepers)
	before := d.cpu()
	quiet := d.wakes(urls[:min(len(urls), 200)])
	t.Logf("wakes one after another: %s; %s", quantiles(quiet), loadAverage())
	d.allAsleep(*sleepers)
	t.Logf("a wake and the sleep after it took %s of CPU", (d.cpu()-before)/time.Duration(len(quiet)))
	asked := 1 + len(quiet)
	if starts := strings.Count(d.log.String(), "version started from sleep"); starts > 2*asked { // twice: a busy machine may stop a version between its start and its request
		t.Errorf("%d starts from sleep for %d requests: versions wake without work", starts, asked)
	}
	if *sleepersTime > 0 {
		t.Logf("20 wakes a second: %s; %s", quantiles(d.sustained(urls)), loadAverage())
	}
}

// many deploys n versions and returns their addresses.
func (d *daemon) many(n int) (urls []string) {
	d.t.Helper()
	d.project("many")
	data := script(d.t, `export default { fetch: () => new Response("here") }`)
	for i := range n {
		d.push("many", api.CreateVersion{ID: "v" + strconv.Itoa(i)}, data)
		if i%10 == 9 || i == n-1 { // the deploy queue is short
			d.ended("many", "v"+strconv.Itoa(i))
		}
		v, err := d.client().Version(d.t.Context(), "many", "v"+strconv.Itoa(i))
		if err != nil {
			d.t.Fatal(err)
		}
		urls = append(urls, v.PreviewURL)
	}
	return urls
}

// allAsleep waits until n versions sleep.
func (d *daemon) allAsleep(n int) {
	d.t.Helper()
	want := fmt.Sprintf("\nsvc_versions_asleep %d\n", n)
	for began := time.Now(); !strings.Contains(d.admin("GET", "/metrics", "").body, want); <-time.After(200 * time.Millisecond) {
		if time.Since(began) > svctest.Patience {
			d.t.Fatalf("not all of %d versions sleep", n)
		}
	}
}

// wakes asks each version and returns how long the answers took.
func (d *daemon) wakes(urls []string) (took []time.Duration) {
	d.t.Helper()
	for _, url := range urls {
		took = append(took, d.woken(url))
	}
	return took
}

func (d *daemon) woken(url string) time.Duration {
	began := time.Now()
	a, err := patiently(func() (answer, error) { return d.try(d.t.Context(), "GET", url, "", "") })
	if err != nil || a.Status != 200 || a.Body != "here" {
		d.t.Errorf("%s: %d %s %v", url, a.Status, a.Body, err)
	}
	return time.Since(began)
}

// sustained asks 20 versions a second, whatever the answers take.
func (d *daemon) sustained(urls []string) (took []time.Duration) {
	var mu sync.Mutex
	var all sync.WaitGroup
	tick := time.NewTicker(time.Second / 20)
	defer tick.Stop()
	for i := range int(*sleepersTime / (time.Second / 20)) {
		<-tick.C
		all.Go(func() {
			one := d.woken(urls[i%len(urls)])
			mu.Lock()
			defer mu.Unlock()
			took = append(took, one)
		})
	}
	all.Wait()
	return took
}

func quantiles(took []time.Duration) string {
	slices.Sort(took)
	at := func(q float64) time.Duration { return took[int(q*float64(len(took)-1))].Round(time.Millisecond) }
	return fmt.Sprintf("n=%d p50=%s p95=%s p99=%s max=%s", len(took), at(0.5), at(0.95), at(0.99), at(1))
}

func loadAverage() string {
	text, _ := os.ReadFile("/proc/loadavg")
	return "load " + strings.TrimSpace(string(text))
}

// cpu is what the daemon and its processes that have ended used.
func (d *daemon) cpu() (sum time.Duration) {
	d.t.Helper()
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(d.cmd.Process.Pid), "stat"))
	if err != nil {
		d.t.Fatal(err)
	}
	_, fields, _ := strings.Cut(string(text), ") ")
	for _, ticks := range strings.Fields(fields)[11:15] { // of the process and of its children, in 1/100 s
		n, _ := strconv.Atoi(ticks)
		sum += time.Duration(n) * 10 * time.Millisecond
	}
	return sum
}

// memory is what all processes of the daemon use.
func (d *daemon) memory() string {
	var pss, rss int
	list := d.processes()
	for _, p := range list {
		pid, _, _ := strings.Cut(p, " ")
		text, _ := os.ReadFile(filepath.Join("/proc", pid, "smaps_rollup"))
		for line := range bytes.Lines(text) {
			var kb int
			if _, err := fmt.Sscanf(string(line), "Pss: %d kB", &kb); err == nil {
				pss += kb
			}
			if _, err := fmt.Sscanf(string(line), "Rss: %d kB", &kb); err == nil {
				rss += kb
			}
		}
	}
	return fmt.Sprintf("%d processes, %d MiB of memory (%d MiB resident); %s", len(list), pss>>10, rss>>10, loadAverage())
}
