//go:build e2e

package e2e

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/test/crashtest"
	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

var (
	releaseDuration = flag.Duration("release.duration", 3*time.Second, "shortest duration of releases under kills")
	releaseKills    = flag.Int("release.kills", 2, "smallest number of kills under releases")
)

const callsDoors = `export default { fetch: (request, env) => env.DOORS.fetch(request) }`

// TestReleaseDoors releases one version after the other while clients write through each way into
// production, and kills the daemon, worker hosts and the object store at random. Each write that
// production acknowledged is in today's production. One that a version acknowledged by its own host
// name or the API is there too, unless the version was no longer production: then it has the write.
func TestReleaseDoors(t *testing.T) {
	t.Parallel()
	r := newReleaseRun(t)
	writing, stopWriters := context.WithCancel(t.Context())
	defer stopWriters()
	releasing, stopReleases := context.WithCancel(t.Context())
	defer stopReleases()
	r.doors.start(writing)
	var releases sync.WaitGroup
	releases.Go(func() { r.releases(releasing) })
	for began, kills := time.Now(), 0; !t.Failed() && (kills < *releaseKills || time.Since(began) < *releaseDuration); {
		r.doors.progress(30)
		time.Sleep(time.Duration(r.rand.IntN(2000)) * time.Millisecond)
		before := kills / 50
		if kills += r.kill(); kills/50 > before {
			t.Logf("after %s: %d kills, %d releases", time.Since(began).Round(time.Second), kills, r.done.Load())
		}
	}
	before := r.done.Load()
	svctest.Eventually(t, "a release without a kill", func() bool { return r.done.Load() > before })
	stopReleases()
	releases.Wait()
	r.doors.progress(10)
	stopWriters()
	r.doors.all.Wait()
	r.check()
}

// releaseRun is one daemon over all its lives.
type releaseRun struct {
	*daemon // with its first addresses, which stay

	lives   *daemon // that is killed and started
	rand    *rand.Rand
	doors   *doors
	kills   map[string]int
	crashes map[string][]time.Time // of runtimes that this daemon started again, by version

	done atomic.Int64 // releases
}

func newReleaseRun(t *testing.T) *releaseRun {
	t.Helper()
	d := started(t, "PLATFORM_PORT="+freePort(t), "GATEWAY_PORT="+freePort(t))
	v0 := d.deploy("testdata/doors", "--version", "v0")
	front := d.deploy(worker(t, `{ "name": "front", "main": "index.js", "compatibility_date": "2026-11-01", "services": [{ "binding": "DOORS", "service": "doors" }] }`,
		map[string]string{"index.js": callsDoors}), "--version", "v1")
	d.deploy("testdata/doors", "--version", "check", "--parent", "v0")
	same := &daemon{t: t, home: d.home, env: d.env, log: d.log, note: d.note, bin: d.bin}
	return &releaseRun{
		daemon: same, lives: d, rand: crashtest.Rand(t), kills: map[string]int{}, crashes: map[string][]time.Time{},
		doors: &doors{d: same, prod: v0.ProdURL, from: front.ProdURL, own: v0, acks: map[string][]ack{}, fails: map[string]int{}, words: map[string]int{}},
	}
}

// releases releases the candidate again and again until ctx ends.
func (r *releaseRun) releases(ctx context.Context) {
	for n := 1; ctx.Err() == nil; n++ {
		id := fmt.Sprint("r", n)
		late := []api.ReleaseVersionLateRequests{api.ReleaseVersionLateRequestsWait, api.ReleaseVersionLateRequestsRefuse}[n%2]
		a, err := r.client().Release(ctx, "doors", "check", api.ReleaseVersion{VersionID: id, LateRequests: late})
		if err == nil {
			r.ended(ctx, a.OperationID)
		}
		select { // the writers of one version write to the last one a moment longer
		case <-ctx.Done():
		case <-time.After(200 * time.Millisecond):
		}
		r.follow()
	}
}

// ended waits for the end of a release.
func (r *releaseRun) ended(ctx context.Context, operation string) {
	for end := time.Now().Add(svctest.Patience); ctx.Err() == nil; {
		p, err := r.client().Promotion(ctx, "doors", operation)
		if err == nil && p.Status != api.PromotionStatusRunning {
			if p.Status == api.PromotionStatusDone {
				r.done.Add(1)
			}
			return
		}
		if time.Now().After(end) {
			r.t.Errorf("the release %s does not end: %+v, %v", operation, p, err)
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// follow has the writers of one version write to production.
func (r *releaseRun) follow() {
	p, err := r.client().Project(r.t.Context(), "doors")
	if err != nil {
		return
	}
	if v, err := r.client().Version(r.t.Context(), "doors", p.ProdVersionID); err == nil {
		r.doors.use(v)
	}
}

// kill kills one process, if it is there, and returns the number of kills.
func (r *releaseRun) kill() int {
	var name string
	done := false
	switch r.rand.IntN(8) {
	case 0, 1:
		name, done = "daemon", true
		clear(r.crashes)
		r.lives.kill()
		r.lives.noProcessesLeft()
		if !r.lives.start() {
			r.t.Errorf("the daemon does not start")
		}
	case 2:
		name = "object store"
		if pids := r.pids(" object-store"); len(pids) == 1 {
			done = syscall.Kill(pids[0], syscall.SIGKILL) == nil
		}
	case 3, 4, 5:
		name, done = "production", r.killHost(r.doors.version().ID)
	default:
		name, done = "new version", r.killStaged()
	}
	if !done {
		return 0
	}
	r.kills[name]++
	return 1
}

// killHost kills the worker host of a version, unless the daemon would soon give it up.
func (r *releaseRun) killHost(version string) bool {
	recent := slices.DeleteFunc(r.crashes[version], func(at time.Time) bool { return time.Since(at) > time.Minute })
	routes, err := r.client().Routes(r.t.Context())
	if err != nil || len(recent) >= 3 {
		return false
	}
	i := slices.IndexFunc(routes.Items, func(p api.Route) bool { return p.ProjectID == "doors" && p.VersionID == version && p.PID != 0 })
	if i < 0 || syscall.Kill(routes.Items[i].PID, syscall.SIGKILL) != nil {
		return false
	}
	r.crashes[version] = append(recent, time.Now())
	return true
}

// killStaged kills the worker host of a version that a release makes: one without a route.
func (r *releaseRun) killStaged() bool {
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		pids := r.pids(" runtime-host")
		routes, err := r.client().Routes(r.t.Context())
		if err != nil {
			return false
		}
		for _, pid := range pids {
			if !slices.ContainsFunc(routes.Items, func(p api.Route) bool { return p.PID == pid }) {
				time.Sleep(time.Duration(r.rand.IntN(300)) * time.Millisecond)
				return syscall.Kill(pid, syscall.SIGKILL) == nil
			}
		}
	}
	return false
}

// history returns the releases, oldest first.
func (r *releaseRun) history() (all []api.Promotion) {
	r.t.Helper()
	svctest.Succeeds(r.t, "the last release to end", func() error {
		all = nil
		for p, err := range r.client().AllPromotions(r.t.Context(), "doors") {
			if err != nil {
				return err
			}
			if p.Status == api.PromotionStatusRunning {
				return fmt.Errorf("the release of %s is running", p.VersionID)
			}
			all = append(all, p)
		}
		return nil
	})
	slices.Reverse(all)
	return all
}

// report logs what the run did.
func (r *releaseRun) report(history []api.Promotion) {
	outcomes, acknowledged, failed := map[string]int{}, 0, 0
	for _, p := range history {
		words := strings.SplitN(p.Error, ": ", 3)
		if len(words) == 3 && words[1] == "internal" {
			r.t.Logf("%s: %s", p.VersionID, p.Error)
		}
		outcomes[string(p.Status)+" "+strings.Join(words[:min(2, len(words))], " ")]++
	}
	for name, acks := range r.doors.acks {
		acknowledged += len(acks)
		failed += r.doors.fails[name]
		r.t.Logf("%s: %d acknowledged, %d failed", name, len(acks), r.doors.fails[name])
	}
	r.t.Logf("kills %v; releases %v; %d acknowledged, %d requests failed", r.kills, outcomes, acknowledged, failed)
	if testing.Verbose() {
		for _, words := range slices.Sorted(maps.Keys(r.doors.words)) {
			r.t.Logf("%d × %s", r.doors.words[words], words)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.doors.fails)) {
		if len(r.doors.acks[name]) == 0 {
			r.t.Errorf("door %s: nothing was acknowledged", name)
		}
	}
}
