//go:build kube

package kube

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

const (
	failoverVersions = 12
	failoverRounds   = 3 // of each way to lose a node
)

// TestFailover takes nodes away, by a cut cable and by a kill, while each of many versions is asked
// without a pause: how long after the loss each version of the node answers again.
func TestFailover(t *testing.T) {
	c := up(t, "sync")
	lead := c.leader("")
	ledger := filepath.Join(c.root, "internal/test/e2e/testdata/ledger")
	versions := make([]api.Version, failoverVersions)
	for i := range versions {
		versions[i], _ = c.deploy(lead, ledger, "--version", fmt.Sprintf("f%d", i))
	}
	r := &report{}
	for _, withLeader := range []bool{false, true} {
		for _, how := range []string{"cut", "kill"} {
			var pauses []time.Duration
			for range failoverRounds {
				pauses = append(pauses, c.lose(how, withLeader, versions)...)
			}
			if len(pauses) == 0 {
				t.Fatal("no version was on a lost node")
			}
			slices.Sort(pauses)
			r.add(t, fmt.Sprintf("node lost (%s), the leader on it: %v", how, withLeader), "%d versions answer again after %s (median), %s (longest)", len(pauses), pauses[len(pauses)/2].Round(10*time.Millisecond), pauses[len(pauses)-1].Round(10*time.Millisecond))
		}
	}
	if file := os.Getenv("KUBE_REPORT"); file != "" {
		text := "| what | measured |\n|---|---|\n" + strings.Join(r.rows, "\n") + "\n"
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// lose takes one node away, that of the leader or another one, until all versions answer again, and
// returns the pause of each version that was on it.
func (c *cluster) lose(how string, withLeader bool, versions []api.Version) (pauses []time.Duration) {
	c.t.Helper()
	lead := c.leader("")
	c.awaitSpares(lead, 3)
	c.settled(versions) // a pod of a node that was lost before has none
	if withLeader {
		c.awaitStandby(lead)
	}
	node := c.nodeWith(lead, withLeader)
	web := c.visitors(node)
	asked := map[string]*load{}
	for _, v := range versions {
		l := visit(c.t, web, strings.TrimSuffix(v.PreviewURL, "/")+"/who", 1, 20)
		l.await(c.t, 3)
		if p := c.podOf(v.ID); p != nil && p.Node == node {
			asked[v.ID] = l
		} else {
			l.end()
		}
	}
	c.run(nil, "scripts/kube/cluster.sh", how, node[4:])
	at := time.Now()
	for version, l := range asked {
		svctest.Succeeds(c.t, "an answer after the loss", func() error { return answersSince(l, at) })
		pauses = append(pauses, gap(l.end()))
		c.t.Logf("%s %s (leader %s), lost at %s: %s was away for %s", how, node, lead.Name, at.UTC().Format("15:04:05.000"), version, pauses[len(pauses)-1])
	}
	c.run(nil, "scripts/kube/cluster.sh", map[string]string{"cut": "heal", "kill": "start"}[how], node[4:])
	svctest.Succeeds(c.t, "the node to be back", func() error {
		out, err := c.try(nil, "kubectl", "get", "nodes", "--no-headers")
		if n := strings.Count(out, " Ready "); err != nil || n < 3 {
			return fmt.Errorf("%d nodes are ready: %w", n, err)
		}
		return nil
	})
	return pauses
}

// answersSince fails until a request that began after at has been answered: one in flight says
// nothing.
func answersSince(l *load, at time.Time) error {
	for _, s := range l.since(0) {
		if s.err == nil && s.status == http.StatusOK && s.began.After(at) {
			return nil
		}
	}
	return fmt.Errorf("%d answers, none of them late enough", l.good())
}

// nodeWith returns the node with the most versions, that of the leader or of the other ones.
func (c *cluster) nodeWith(lead pod, leader bool) string {
	c.t.Helper()
	if leader {
		return lead.Node
	}
	list, err := c.pods("svcctl.dev/version")
	if err != nil {
		c.t.Fatal(err)
	}
	number := map[string]int{}
	best := ""
	for _, p := range list {
		if p.Node == lead.Node {
			continue
		}
		if number[p.Node]++; number[p.Node] > number[best] {
			best = p.Node
		}
	}
	if best == "" {
		c.t.Fatal("all versions are on the node of the leader")
	}
	return best
}
