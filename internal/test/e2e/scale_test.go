//go:build e2e

package e2e

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	_ "modernc.org/sqlite" // the driver

	"github.com/svcctl/svcctl/internal/edge/routefeed"
	"github.com/svcctl/svcctl/internal/fleet/join"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

var (
	scaleAwake    = flag.Int("scale.awake", 12, "versions that serve in TestScale")
	scaleRows     = flag.Int("scale.rows", 200, "archived versions of TestScale")
	scaleGateways = flag.Int("scale.gateways", 3, "gateways of TestScale")
)

// TestScale runs a server whose versions are on fake machines, and gateways that follow its routes:
// what the control plane costs, how late a change of a route arrives, and how long a new server
// needs. The long form is -scale.awake 4000 -scale.rows 100000 -scale.gateways 50.
func TestScale(t *testing.T) {
	t.Parallel()
	n := *scaleAwake
	addr := freeAddress(t)
	d := withGateways(t, "SVC_RUNTIME=remote", "SVC_HOSTS_ADDR="+addr, "SVC_EMBEDDED_S3_ADDR="+freeAddress(t), "SVC_LEASE_TTL=30s", "SVC_ORCH_WORKERS=8", "SVC_QUEUE_MAX=1000", "SVC_LOG_LEVEL=warn")
	token, err := join.ParseToken(d.ok(d.home, "admin", "hosts", "token"))
	if err != nil {
		t.Fatal(err)
	}
	f := &fakeHosts{addr: addr, token: token, release: releaseOf(t, d)}
	f.refused(t)
	ctx, cancel := context.WithCancel(t.Context())
	f.start(ctx, n+2)
	t.Cleanup(func() { cancel(); f.all.Wait() })
	began := time.Now()
	urls := d.many(n)
	t.Logf("%d deploys: %s each", n, (time.Since(began) / time.Duration(n)).Round(time.Millisecond))
	d.kill()
	d.addArchived(*scaleRows)
	began = time.Now()
	if !d.start() {
		t.Fatal(d.log.String())
	}
	answers := time.Since(began)
	d.allServe(n)
	t.Logf("a new server: API after %s, all of %d versions after %s; %s", answers.Round(time.Millisecond), n, time.Since(began).Round(time.Millisecond), loadAverage())
	if a := d.get(urls[n-1]); a.Status != http.StatusOK || a.Body != "here" {
		t.Errorf("%d %q", a.Status, a.Body)
	}
	gateways := d.followers(ctx, *scaleGateways)
	svctest.Eventually(t, "all gateways to have the routes", func() bool {
		return !slices.ContainsFunc(gateways, func(g *follower) bool { return g.routes() < n })
	})
	before, at := d.processTime(), time.Now()
	idle := 3 * time.Second
	if n > 1000 {
		idle = 20 * time.Second
	}
	<-time.After(idle)
	used := d.processTime() - before
	t.Logf("%d versions, %d rows, %d gateways, idle: %.2f processors, %s", n, *scaleRows, *scaleGateways, used.Seconds()/time.Since(at).Seconds(), d.memory())
	var late []time.Duration
	for i := range 10 {
		late = append(late, d.routeChange(gateways, i))
	}
	t.Logf("a change of a route at the last of %d gateways: %s; %s", len(gateways), quantiles(late), loadAverage())
}

// releaseOf returns the release of the program under test.
func releaseOf(t *testing.T, d *daemon) string {
	t.Helper()
	info, err := d.client().ServerInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return info.Version
}

// addArchived writes copies of a version that was deployed as archived ones into the registry.
func (d *daemon) addArchived(n int) {
	d.t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(d.dataDir(), "registry.db"))
	if err == nil {
		defer db.Close()
		_, err = db.ExecContext(d.t.Context(), `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < ?)
			INSERT INTO versions (project_id, id, git_ref, git_sha, digest, asked_digest, asked_hash, status, created_at, updated_at, ready_at)
			SELECT project_id, 'old' || i, git_ref, git_sha, digest, asked_digest, asked_hash, 'archived', created_at, updated_at, ready_at
			FROM versions, n WHERE id = 'v0'`, n)
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

// allServe waits until n versions serve.
func (d *daemon) allServe(n int) {
	d.t.Helper()
	svctest.Succeeds(d.t, "all versions to serve", func() error {
		up := 0
		for line := range strings.Lines(d.admin("GET", "/metrics", "").body) {
			if strings.HasPrefix(line, "svc_runtime_up{") && strings.HasSuffix(strings.TrimSpace(line), " 1") {
				up++
			}
		}
		if up < n {
			return fmt.Errorf("%d of %d", up, n)
		}
		return nil
	})
}

// processTime is the processor time of the daemon's own process.
func (d *daemon) processTime() time.Duration {
	d.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", d.cmd.Process.Pid))
	if err != nil {
		d.t.Fatal(err)
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	ticks := 0
	for _, f := range fields[11:13] {
		n, _ := strconv.Atoi(f)
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// follower is a gateway that only has the routes.
type follower struct {
	mu       sync.Mutex
	versions map[svc.Ref]bool
	prod     map[string]string
	change   chan struct{}
}

func (g *follower) routes() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.versions)
}

// changed needs g.mu.
func (g *follower) changed() { close(g.change); g.change = make(chan struct{}) }

func (g *follower) SetVersion(ref svc.Ref, _ svc.Upstream) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.versions[ref] = true
}

func (g *follower) RemoveVersion(ref svc.Ref) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.versions, ref)
}

func (g *follower) SetProduction(project, id string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.prod[project] = id
	g.changed()
}

func (g *follower) Hold(string)                                      {}
func (g *follower) Release(string)                                   {}
func (g *follower) SetPreview(string, string, string)                {}
func (g *follower) HoldPreview(string, string)                       {}
func (g *follower) ReleasePreview(string, string)                    {}
func (g *follower) CloseWebsockets(svc.Ref, svc.Role, time.Duration) {}
func (g *follower) SetDomain(svc.DomainRoute)                        {}
func (g *follower) RemoveDomain(string)                              {}

// await waits until the gateway has a production, and returns when it had.
func (g *follower) await(ctx context.Context, project, id string) time.Time {
	for {
		g.mu.Lock()
		has, change := g.prod[project] == id, g.change
		g.mu.Unlock()
		if has || ctx.Err() != nil {
			return time.Now()
		}
		select {
		case <-change:
		case <-ctx.Done():
		}
	}
}

// followers follows the routes n times.
func (d *daemon) followers(ctx context.Context, n int) (list []*follower) {
	d.t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	d.t.Cleanup(cancel)
	url := ""
	for _, e := range d.env {
		if a, ok := strings.CutPrefix(e, "SVC_GATEWAYS_LISTEN="); ok {
			url = "http://" + a
		}
	}
	for i := range n {
		g := &follower{versions: map[svc.Ref]bool{}, prod: map[string]string{}, change: make(chan struct{})}
		c := routefeed.NewClient(routefeed.ClientConfig{
			URL: url, Token: gatewayToken, HTTP: &http.Client{Transport: &http.Transport{}}, Instance: "i" + strconv.Itoa(i), Name: "g" + strconv.Itoa(i), Build: "test",
			Table:  routefeed.NewTable(func(svc.IngressConfig) (routefeed.Gateway, error) { return g, nil }),
			Logger: slog.New(slog.DiscardHandler), Numbers: func() routefeed.Report { return routefeed.Report{} },
		})
		done := make(chan struct{})
		go func() { defer close(done); _ = c.Run(ctx) }() // until the test ends
		d.t.Cleanup(func() { cancel(); <-done })
		list = append(list, g)
	}
	return list
}

// routeChange promotes another version, and returns how long after the call the last gateway had
// the new route.
func (d *daemon) routeChange(gateways []*follower, i int) time.Duration {
	d.t.Helper()
	id := "v" + strconv.Itoa(1+i%2)
	began := time.Now()
	p, err := d.client().Promote(d.t.Context(), "many", id, api.PromoteVersion{})
	if err != nil {
		d.t.Fatal(err)
	}
	last := began
	for _, g := range gateways {
		if at := g.await(d.t.Context(), "many", id); at.After(last) {
			last = at
		}
	}
	if _, err := d.client().WaitPromotion(d.t.Context(), "many", p.OperationID); err != nil {
		d.t.Fatal(err)
	}
	return last.Sub(began)
}
