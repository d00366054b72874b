package deploy

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/internal/lib/failpoint"
	"github.com/svcctl/svcctl/internal/svc"
)

// branch forks the data of the parent. A root version starts without data. A
// repeat finds the fork that exists. spec: [C2.8] [C2.13] [C2.17].
func (r *run) branch(ctx context.Context) (string, error) {
	if r.v.ParentID == "" {
		return "root version: nothing to fork", nil
	}
	parent := svc.Ref{Project: r.v.Project, Version: r.v.ParentID}
	if r.v.ForkTXID == "" { // else the fork exists, and the parent no longer matters
		if err := r.checkParent(ctx, parent); err != nil {
			return "", err
		}
	}
	forked, err := r.fork(ctx, parent)
	if err != nil {
		return "", r.forkError(ctx, parent, err)
	}
	failpoint.Hit("deploy/branching/forked")
	r.warm = forked.Warm
	if forked.TXID == "" {
		return parent.Version + " has no data to fork", nil
	}
	if err := r.deps.Versions.SetForkTXID(ctx, r.v.Ref, forked.TXID); err != nil {
		return "", err
	}
	return forkDetail(forked, parent, r.v.ParentAt), nil
}

// fork forks the newest data of the parent, or that of the moment that was asked for.
func (r *run) fork(ctx context.Context, parent svc.Ref) (svc.Forked, error) {
	if r.v.ParentAt.IsZero() {
		return r.deps.Branches.Fork(ctx, parent, r.v.Ref, forkID(r.v))
	}
	return r.deps.Branches.ForkPast(ctx, parent, r.v.Ref, forkID(r.v), r.v.ParentAt)
}

// forkID identifies the fork of a version. The creation time distinguishes versions
// of a new registry that have the ids of an old one.
func forkID(v svc.Version) string { return fmt.Sprintf("%s@%d", v.Ref, v.CreatedAt.UnixNano()) }

// checkParent applies the rules of Submit again: the parent may have been destroyed
// or become production since.
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

// forkError returns err, or the error of checkParent if the parent changed during
// the fork.
func (r *run) forkError(ctx context.Context, parent svc.Ref, err error) error {
	if rule := r.checkParent(ctx, parent); errors.Is(rule, svc.Unprocessable) {
		return rule
	}
	return err
}

func forkDetail(f svc.Forked, parent svc.Ref, asked time.Time) string {
	databases := "1 database"
	if f.Databases != 1 {
		databases = fmt.Sprintf("%d databases", f.Databases)
	}
	detail := fmt.Sprintf("forked %s of %s at %s", databases, parent.Version, f.TXID)
	if f.At.IsZero() {
		return detail
	}
	return fmt.Sprintf("%s, as of %s, %v before the moment", detail, f.At.UTC().Format("2006-01-02T15:04:05.000Z"), asked.Sub(f.At).Round(time.Millisecond))
}
