package divergence_test

import (
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/server/versions/divergence"
	"github.com/svcctl/svcctl/internal/svc"
)

// TestReleasePlan: the plan says why a release would be refused, as the release would.
func TestReleasePlan(t *testing.T) {
	t.Parallel()
	for blocked, change := range map[string]func(w *world, candidate *svc.Version){
		"":                    func(*world, *svc.Version) {},
		"no_production: ":     func(w *world, _ *svc.Version) { w.production = "" },
		"version_not_ready: ": func(_ *world, v *svc.Version) { v.Status = svc.StatusFailed },
		"fork_of_production: the parent v1 is live production": func(_ *world, v *svc.Version) { v.GitRef = "refs/pull/7/merge" },
		"release_too_slow: ": func(_ *world, v *svc.Version) { v.Migrated.Took = time.Minute },
	} {
		t.Run(blocked, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.version("v1", "")
			w.version("v2", "v1")
			w.production = "v1"
			production, candidate := w.versions["v1"], w.versions["v2"]
			production.Production = true
			change(w, &candidate)
			w.versions["v1"], w.versions["v2"] = production, candidate
			plan, err := w.service(func(d *divergence.Deps) {
				d.HoldLimit, d.Forks = 4*time.Second, svc.ForkPolicy{PRRefs: []string{"refs/pull/*"}}
			}).ReleasePlan(t.Context(), ref("v2"))
			if err != nil || !strings.HasPrefix(plan.Blocked, blocked) || (blocked == "") != (plan.Blocked == "") {
				t.Errorf("%+v, %v", plan, err)
			}
		})
	}
}
