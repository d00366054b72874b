//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

// leaderPoints are where a leader is lost in a release: in the hold, and between the commit and its copy
// in the object store, which is all that the next leader knows.
func leaderPoints() []string {
	if !*everyPoint {
		return []string{"release/seal/done", "release/commit/answered"}
	}
	var points []string
	for _, step := range []string{"settle", "drain", "pause", "seal", "fork", "prepare", "check", "commit", "switch"} {
		points = append(points, "release/"+step+"/started", "release/"+step+"/done")
	}
	return append(points, "release/commit/asked", "release/commit/answered")
}

// TestReleaseLeaderLost kills the leader at points of a release of a version in a pod, while clients write.
// The server that stood by takes over, with the copy of the registry: the release is undone or done, no
// write is lost, and the next release succeeds. -faults.points has all points.
func TestReleaseLeaderLost(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	points := append(leaderPoints(), "none/of/these")
	c.servers[0].launch("SVC_FAILPOINT=" + points[0])
	if !c.servers[0].up() {
		t.Fatal(c.servers[0].log.String())
	}
	first := c.servers[0]
	v0 := first.deploy(ledgerDir, "--version", "v0")
	first.deploy(ledgerDir, "--version", "check", "--parent", "v0", "--var", "ROUND:new")
	s := first.sendTo(v0.ProdURL, 2, map[string]*http.Client{"own": first.http()}) // each leader has the same address
	for i, point := range points[:len(points)-1] {
		lead, next := c.servers[i%2], c.servers[(i+1)%2]
		next.launch("SVC_FAILPOINT=" + points[i+1])
		s.await("own", 10)
		c.leaderLost(lead, next, point, fmt.Sprint("v", i+1))
		s.await("own", 10)
	}
	last := c.servers[(len(points)-1)%2]
	if p := last.released("ledger", "check", api.ReleaseVersion{VersionID: "last"}); p.Status != api.PromotionStatusDone {
		t.Errorf("the last release: %s", p.Error)
	}
	s.await("own", 10)
	lines := s.end()
	last.checkLines(v0.ProdURL, lines)
	t.Logf("%d lines acknowledged, %d requests failed in %d losses of the leader", len(lines), len(s.failures()), len(points)-1)
}

// leaderLost releases a version with a leader that is killed at a point, and waits for the outcome with
// the next one.
func (c *cluster) leaderLost(lead, next *daemon, point, version string) {
	c.t.Helper()
	before, err := lead.client().Project(c.t.Context(), "ledger")
	if err != nil {
		c.t.Fatal(err)
	}
	_, _ = lead.client().Release(c.t.Context(), "ledger", "check", api.ReleaseVersion{VersionID: version}) // the answer may be lost
	lead.died()
	if !next.up() {
		c.t.Fatalf("the server that stood by ended:\n%s", next.log.String())
	}
	next.note.AdminToken, next.note.DeployToken = lead.note.AdminToken, lead.note.DeployToken
	next.oneOutcome(point, version, before.ProdVersionID)
	after, err := next.client().Project(c.t.Context(), "ledger")
	if err != nil {
		c.t.Fatal(err)
	}
	svctest.Eventually(c.t, "production to answer after "+point, func() bool {
		a, err := next.try(c.t.Context(), http.MethodGet, after.ProdURL+"/who", "", "")
		return err == nil && a.Header.Get("Svc-Version") == after.ProdVersionID
	})
	c.t.Logf("%s: production was %s, is %s", point, before.ProdVersionID, after.ProdVersionID)
}
