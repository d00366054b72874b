//go:build e2e

package e2e

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/client"
)

// ticking prints the time while a request lasts: each line is on its way before the request
// has ended.
func ticking(t *testing.T, lines int) string {
	t.Helper()
	return worker(t, helloConfig, map[string]string{"index.js": `export default { async fetch(req, env) {
  for (let i = 0; i < ` + strconv.Itoa(lines) + `; i++) { await scheduler.wait(20); console.log("at " + Date.now()); }
  return new Response(env.VERSION_ID);
} }`})
}

// TestLogsFollowPromote: `svcctl logs -f` without a version shows production, and shows the
// next one from its first request on.
func TestLogsFollowPromote(t *testing.T) {
	t.Parallel()
	d := started(t)
	dir := ticking(t, 1)
	v1 := d.deploy(dir, "--version", "v1") // the first version is production
	d.deploy(dir, "--version", "v2")
	d.get(v1.ProdURL + "/before")
	text, lines := d.follows("logs", "-f", "-p", "hello"), d.follows("logs", "-f", "-p", "hello", "-o", "jsonl")
	text.await(`GET /before  200`)
	lines.await(`"path":"/before".*"version_id":"v1"|"version_id":"v1".*"path":"/before"`)

	d.ok(dir, "promote", "hello/v2", "--leave-writes")
	d.get(v1.ProdURL + "/after")
	text.await(`(?s)GET /after  200 .*log +at \d+|log +at \d+.*GET /after  200 `) // a late line stands by itself
	lines.await(`"path":"/after".*"version_id":"v2"|"version_id":"v2".*"path":"/after"`)
	for _, r := range []*running{text, lines} {
		if code := r.interrupt(); code != 0 {
			t.Errorf("exit code %d after Ctrl-C", code)
		}
	}
}

// TestLogsLive: a line of a request that still runs is at a follower in a moment. The log of
// the test has the exact times.
func TestLogsLive(t *testing.T) {
	t.Parallel()
	const count = 50
	d := started(t)
	v := d.deploy(ticking(t, count), "--version", "v1")
	ctx, cancel := context.WithTimeout(t.Context(), svctest.Patience)
	defer cancel()
	d.get(v.PreviewURL) // what a follower begins with
	ended := make(chan error, 1)
	var (
		took  []time.Duration
		began time.Time
	)
	for l, err := range d.client().FollowLogs(ctx, "hello", "v1", client.LogQuery{Tail: 1}) {
		now := time.Now()
		if err != nil {
			t.Fatal(err)
		}
		if took == nil { // the follower is connected
			took = make([]time.Duration, 0, count)
			go func() {
				_, err := d.try(ctx, http.MethodGet, v.PreviewURL, "", "")
				ended <- err
			}()
			began = now
			continue
		}
		if at, isLine := strings.CutPrefix(l.Message, "at "); isLine {
			ms, err := strconv.ParseInt(at, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			if printed := time.UnixMilli(ms); printed.After(began) {
				took = append(took, now.Sub(printed))
			}
		}
		if len(took) == count {
			break
		}
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	slices.Sort(took)
	t.Logf("from console.log to the follower: median %s, longest %s", took[count/2], took[count-1])
	if took[count/2] > 2*time.Second { // 200 ms on a machine without other work
		t.Errorf("half of the lines took longer than %s", took[count/2])
	}
}
