//go:build kube

package kube

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// glutton takes memory until its pod has none, or 2 GB.
const glutton = `export default { fetch(request) {
	const kept = [];
	if (new URL(request.url).pathname === "/eat") while (kept.length < 256) kept.push(new Uint8Array(8 << 20).fill(1));
	return new Response("ok " + kept.length);
} };`

// TestBadDays: an object store that is slow, and one that is away, cost time and no write; a worker
// that takes all memory of its pod is started again, with the reason.
func TestBadDays(t *testing.T) {
	c := up(t, "sync")
	lead := c.leader("")
	c.awaitSpares(lead, 3)
	v, _ := c.deploy(lead, filepath.Join(c.root, "internal/test/e2e/testdata/ledger"), "--version", "v1")
	web := c.visitors("")
	lines := write(t, web, v.ProdURL, 4)
	lines.await(t, 50)

	c.stall(3 * time.Second) // shorter than its lease
	lines.await(t, 50)
	if bad := failed(lines.since(0)); len(bad) > 0 {
		t.Errorf("slow store: %d failed, first %+v", len(bad), bad[0])
	}
	c.stall(20 * time.Second) // three leases
	lines.await(t, 50)
	list := lines.end()
	var all sample
	svctest.Succeeds(t, "all lines", func() error {
		if all = ask(t.Context(), web, http.MethodGet, v.ProdURL+"/all", ""); all.status != http.StatusOK {
			return fmt.Errorf("%d %s %w", all.status, all.body, all.err)
		}
		return nil
	})
	for _, s := range list {
		if s.err == nil && s.status == http.StatusOK && !strings.Contains(all.body, `"`+s.body+`"`) {
			t.Fatalf("an acknowledged write is lost: %s", s.body)
		}
	}
	t.Logf("store slow for 3 s and away for 20 s: %d writes, %d failed, pause %s, 0 lost", len(list), len(failed(list)), gap(list).Round(time.Millisecond))
	c.runsOutOfMemory()
}

func (c *cluster) runsOutOfMemory() {
	t := c.t
	lead := c.leader("")
	dir := t.TempDir()
	for name, text := range map[string]string{
		"wrangler.json": `{"name": "glutton", "main": "index.js", "compatibility_date": "2026-11-01"}`, "index.js": glutton,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c.awaitSpares(lead, 1)
	v, _ := c.deploy(lead, dir, "--version", "v1")
	web := c.visitors("")
	if s := ask(t.Context(), web, http.MethodGet, v.ProdURL+"/eat", ""); s.status == http.StatusOK {
		t.Fatalf("the pod has no limit: %s", s.body)
	}
	began := time.Now()
	svctest.Succeeds(t, "an answer after the end", func() error {
		if s := ask(t.Context(), web, http.MethodGet, v.ProdURL, ""); s.status != http.StatusOK {
			return fmt.Errorf("%d %s %w", s.status, s.body, s.err)
		}
		return nil
	})
	var why string
	svctest.Succeeds(t, "the reason", func() error {
		v, err := c.client(lead).Version(t.Context(), "glutton", "v1")
		if err != nil || v.Runtime == nil || v.Runtime.Restarts == 0 {
			return fmt.Errorf("no restart is known: %w", err)
		}
		why = v.Runtime.LastError
		return nil
	})
	if !strings.Contains(why, "killed") && !strings.Contains(why, svc.CodeOutOfMemory) {
		t.Errorf("the reason of the restart: %q", why)
	}
	t.Logf("out of memory: answers after %s: %s", time.Since(began).Round(time.Millisecond), why)
}

// stall stops the object store's process for a time: its connections stay and do not answer.
func (c *cluster) stall(d time.Duration) {
	c.t.Helper()
	signal := func(name string) {
		c.run(nil, "pkill", "-"+name, "-P", strconv.Itoa(os.Getpid()), "-f", "object-store")
	}
	signal("STOP")
	defer signal("CONT")
	select {
	case <-time.After(d):
	case <-c.t.Context().Done():
	}
}
