package remote

import (
	"context"
	"fmt"

	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
	"github.com/svcctl/svcctl/internal/client/unmerged"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// promote promotes a version and waits for the end.
func (r *Remote) promote(ctx context.Context, a state.Action, reason string) (string, error) {
	arg := state.SplitArg(a.Arg, 2)
	accepted, err := r.c.Promote(ctx, a.Project, a.Version, api.PromoteVersion{Reason: reason, ExpectedProdVersionID: &arg[0], LeaveWrites: arg[1] != ""})
	if err != nil {
		return "", err
	}
	if accepted.Status == api.PromotionStatusUnchanged {
		return fmt.Sprintf("%s is production already", a.Target()), nil
	}
	p, err := r.c.WaitPromotion(ctx, a.Project, accepted.OperationID)
	if err != nil {
		return "", err
	}
	if p.PreviousVersionID == "" {
		return fmt.Sprintf("%s is production", a.Target()), nil
	}
	note := fmt.Sprintf("%s is production; it was %s", a.Target(), p.PreviousVersionID)
	if unmerged.Left(p.Unmerged) {
		note += "; for what stays there: " + unmerged.Rescue(a.Project, p.PreviousVersionID)
	}
	return note, nil
}

// release releases the code of a version and waits for the end.
func (r *Remote) release(ctx context.Context, a state.Action) (string, error) {
	arg := state.SplitArg(a.Arg, 3)
	body := api.ReleaseVersion{Reason: "svcctl ui", ExpectedProdVersionID: &arg[0], Rollback: arg[1] != "", Force: arg[2] != ""}
	if body.Rollback {
		body.Reason = client.RollbackReason
	}
	accepted, err := r.c.Release(ctx, a.Project, a.Version, body)
	if err != nil {
		return "", err
	}
	p, err := r.c.WaitPromotion(ctx, a.Project, accepted.OperationID)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s/%s is production: %s", a.Project, p.VersionID, ui.Released(p)), nil
}
