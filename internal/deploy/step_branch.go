package deploy

import (
	"context"
	"errors"
	"fmt"

	"github.com/svcctl/svcctl/internal/failpoint"
	"github.com/svcctl/svcctl/internal/svc"
)

// branch gives the version its data: its parent's as they are now. A root
// version starts with what its bundle's migrations make. Again: the fork that
// was made. spec: What the service does, 7 to 9.
func (r *run) branch(ctx context.Context) (string, error) {
	if r.v.ParentID == "" {
		return "root version: nothing to branch", nil
	}
	parent := svc.Ref{Project: r.v.Project, Version: r.v.ParentID}
	if r.v.ForkTXID == "" { // else the data is there, whatever became of the parent
		if err := r.checkParent(ctx, parent); err != nil {
			return "", err
		}
	}
	forked, err := r.deps.Branches.Fork(ctx, parent, r.v.Ref, forkID(r.v))
	if err != nil {
		return "", r.forkError(ctx, parent, err)
	}
	failpoint.Hit("deploy/branching/forked")
	r.warm = forked.Warm
	if forked.TXID == "" {
		return parent.Version + " has no data to branch", nil
	}
	if err := r.deps.Versions.SetForkTXID(ctx, r.v.Ref, forked.TXID); err != nil {
		return "", err
	}
	return branched(forked, parent), nil
}

// forkID names the one fork of a version: the ids of versions are never used
// twice, and registries start anew.
func forkID(v svc.Version) string { return fmt.Sprintf("%s@%d", v.Ref, v.CreatedAt.UnixNano()) }

// checkParent applies the rules of Submit once more: since then the parent may
// have been destroyed, or become production.
func (r *run) checkParent(ctx context.Context, ref svc.Ref) error {
	parent, err := r.deps.Versions.Version(ctx, ref)
	if err != nil {
		return err
	}
	scrub, err := r.deps.Forks.Check(r.v.GitRef, parent)
	if err != nil || !scrub || r.v.ScrubID == r.v.Version {
		return err
	}
	r.v.ScrubID = r.v.Version
	return r.deps.Versions.MarkScrub(ctx, r.v.Ref)
}

// forkError is err, or the rule that the parent broke while it was forked.
func (r *run) forkError(ctx context.Context, parent svc.Ref, err error) error {
	if rule := r.checkParent(ctx, parent); errors.Is(rule, svc.Unprocessable) {
		return rule
	}
	return err
}

func branched(f Forked, parent svc.Ref) string {
	stores := "1 store"
	if f.Stores != 1 {
		stores = fmt.Sprintf("%d stores", f.Stores)
	}
	return fmt.Sprintf("branched %s of %s at %s", stores, parent.Version, f.TXID)
}
