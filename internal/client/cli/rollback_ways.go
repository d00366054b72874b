package cli

import (
	"context"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/client/unmerged"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// keepData releases the earlier code on the data of production. If migrations were applied since,
// it says what the other way would leave behind.
func (r goingBack) keepData(ctx context.Context) error {
	o := releaseOptions{project: r.project, reason: r.o.reason, timeout: r.o.timeout, rollback: true, force: r.o.force, expected: &r.to.Production}
	done, err := release(ctx, r.k, r.c, o, r.to.Version)
	if client.CodeOf(err) == svc.CodeSchemaMoved {
		r.k.Notef("the other way, svcctl rollback --restore-data:")
		if plan, planErr := r.c.PromotionPlan(ctx, r.project, r.to.Version); planErr == nil {
			showPlan(aside(r.k), plan)
		}
	}
	if err != nil {
		return err
	}
	return r.k.Print(done, func() { showReleased(r.k, done) })
}

// restoreData promotes the earlier version, after what stays behind was shown. On a terminal it
// asks; a command line in a script has said what it wants.
func (r goingBack) restoreData(ctx context.Context) error {
	r.o.leave, r.o.asked = true, &r.to.Production
	if !r.shown && (!r.o.yes || r.o.restore) {
		plan, err := r.c.PromotionPlan(ctx, r.project, r.to.Version)
		if err != nil {
			return err
		}
		showPlan(aside(r.k), plan)
		if !r.o.yes && r.k.CanAsk() && unmerged.Left(plan.Unmerged) {
			if err := r.k.Confirm(ctx, "the rollback leaves these writes in "+r.to.Production, r.to.Version, "--yes"); err != nil {
				return err
			}
		}
	}
	return promoteAndPrint(ctx, r.k, r.c, r.o.promoteOptions, api.Version{ProjectID: r.project, ID: r.to.Version})
}

// rollbackPlan is what a rollback would do; Keep and Restore are the two ways, nil for one that
// the command line excludes.
type rollbackPlan struct {
	ProjectID           string             `json:"project_id"`
	ProductionVersionID string             `json:"production_version_id"`
	VersionID           string             `json:"version_id"`
	Released            bool               `json:"released"` // production came by a release
	Keep                *api.ReleasePlan   `json:"keep_data"`
	Restore             *api.PromotionPlan `json:"restore_data"`
}

// plan prints what the rollback would do.
func (r goingBack) plan(ctx context.Context) error {
	p, err := r.plans(ctx)
	if err != nil {
		return err
	}
	return r.k.Print(p, func() { p.show(r.k) })
}

func (r goingBack) plans(ctx context.Context) (rollbackPlan, error) {
	p := rollbackPlan{ProjectID: r.project, ProductionVersionID: r.to.Production, VersionID: r.to.Version, Released: r.to.Released}
	if r.o.keep || r.to.Released && !r.o.restore {
		keep, err := r.c.ReleasePlan(ctx, r.project, r.to.Version)
		if err != nil {
			return p, err
		}
		p.Keep = &keep
	}
	if !r.o.keep {
		restore, err := r.c.PromotionPlan(ctx, r.project, r.to.Version)
		if err != nil {
			return p, err
		}
		p.Restore = &restore
	}
	return p, nil
}

// showPlans shows what is known of the ways before a question.
func (r goingBack) showPlans(ctx context.Context, k *kit.Kit) {
	if p, err := r.plans(ctx); err == nil {
		p.show(k)
	}
}

func (p rollbackPlan) show(k *kit.Kit) {
	k.Printf("a rollback of %s goes back from %s to %s", p.ProjectID, p.ProductionVersionID, p.VersionID)
	if p.Keep != nil {
		k.Printf("with --keep-data: the code of %s on today's data, no write lost, expected hold %s", p.VersionID, holdOf(p.Keep.ExpectedHoldMs))
		if p.Keep.Blocked != "" {
			k.Printf("  it would be refused: %s", kit.Clean(p.Keep.Blocked))
		}
	}
	if p.Restore == nil {
		return
	}
	if p.Released {
		k.Printf("with --restore-data: %s with its data of before the release", p.VersionID)
	}
	printLeft(k, p.Restore.Unmerged, p.Restore.Waiting, p.ProductionVersionID, p.VersionID)
}
