//go:build e2e

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

// fewPoints are those between which the outcome of a release is decided.
func fewPoints() []string {
	return []string{
		"release/stage/done", "release/seal/done", "release/prepare/done",
		"release/commit/asked", "release/commit/answered", "release/switch/done",
	}
}

// releasePoints lists the failpoints of a release, in order.
func releasePoints() []string {
	if !*everyPoint {
		return fewPoints()
	}
	points := []string{"registry/release/created"}
	for _, step := range []string{"stage", "settle", "drain", "pause", "seal", "fork", "prepare", "check", "commit", "switch", "apart"} {
		points = append(points, "release/"+step+"/started", "release/"+step+"/done")
	}
	return append(points, "release/commit/asked", "release/commit/answered", "registry/promotion/finished")
}

// TestFaultsRelease kills the daemon at points of a release while clients write through
// production's host name. Before the commit the release is undone, after it done; production has
// every write that was acknowledged, and a release after that succeeds.
func TestFaultsRelease(t *testing.T) {
	t.Parallel()
	for group := range slices.Chunk(releasePoints(), 6) {
		t.Run("from "+strings.ReplaceAll(group[0], "/", "-"), func(t *testing.T) {
			t.Parallel()
			d := started(t, "GATEWAY_PORT="+freePort(t))
			prod := d.deploy(ledgerDir, "--version", "v0").ProdURL
			d.deploy(ledgerDir, "--version", "check", "--parent", "v0", "--var", "ROUND:new")
			writers := d.writeTo(prod, 3)
			writers.succeed(20)
			for i, point := range group {
				d.releaseKilled(point, fmt.Sprintf("v%d", i+1))
				writers.succeed(20)
			}
			if p := d.released("ledger", "check", api.ReleaseVersion{VersionID: "last"}); p.Status != api.PromotionStatusDone {
				t.Errorf("the last release: %s", p.Error)
			}
			writers.succeed(20)
			d.checkLines(prod, writers.end())
		})
	}
}

// releaseKilled releases a version with a daemon that exits at a point, and starts the next one.
func (d *daemon) releaseKilled(point, version string) {
	d.t.Helper()
	d.kill()
	d.noProcessesLeft()
	if !d.start("SVC_FAILPOINT=" + point) {
		d.t.Fatalf("the daemon ended before %s", point)
	}
	before, err := d.client().Project(d.t.Context(), "ledger")
	if err != nil {
		d.t.Fatal(err)
	}
	_, _ = d.client().Release(d.t.Context(), "ledger", "check", api.ReleaseVersion{VersionID: version}) // the answer may be lost
	d.died()
	d.noProcessesLeft()
	if !d.start() {
		d.t.Fatalf("the daemon does not start after %s", point)
	}
	d.oneOutcome(point, version, before.ProdVersionID)
}

// oneOutcome waits for the end of a release: the version is production, or has failed and production
// is the one before.
func (d *daemon) oneOutcome(point, version, before string) {
	d.t.Helper()
	svctest.Succeeds(d.t, "the release to end after "+point, func() error {
		page, err := d.client().Promotions(d.t.Context(), "ledger", pageOf(1))
		if err != nil {
			return err
		}
		p := page.Items[0]
		project, err := d.client().Project(d.t.Context(), "ledger")
		if err != nil {
			return err
		}
		v, err := d.client().Version(d.t.Context(), "ledger", version)
		switch {
		case err != nil:
			return err
		case p.Status == api.PromotionStatusDone && project.ProdVersionID == version && v.Status == api.VersionStatusReady:
			return nil
		case p.Status == api.PromotionStatusFailed && project.ProdVersionID == before && v.Status == api.VersionStatusFailed:
			return nil
		}
		return fmt.Errorf("the release is %s, %s is %s, production is %s", p.Status, version, v.Status, project.ProdVersionID)
	})
}

// released releases a candidate and waits for the end.
func (d *daemon) released(project, candidate string, r api.ReleaseVersion) api.Promotion {
	d.t.Helper()
	a, err := d.client().Release(d.t.Context(), project, candidate, r)
	if err != nil {
		d.t.Fatal(err)
	}
	return d.releaseEnds(project, a.OperationID)
}

// releaseEnds waits for the end of a release.
func (d *daemon) releaseEnds(project, operation string) (done api.Promotion) {
	d.t.Helper()
	svctest.Succeeds(d.t, "the release to end", func() (err error) {
		if done, err = d.client().Promotion(d.t.Context(), project, operation); err == nil && done.Status == api.PromotionStatusRunning {
			err = fmt.Errorf("it is running")
		}
		return err
	})
	return done
}
