package promote

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding/kinds"
	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/svc"
)

// stage deploys the new version as far as it needs no data.
func (r *release) stage(ctx context.Context) (err error) {
	r.deploy, err = r.deps.Deploys.Begin(ctx, r.v)
	if err != nil {
		return err
	}
	m, err := r.deploy.Manifest()
	if err != nil {
		return err
	}
	r.manifest = &m
	if r.req.Check == "" && m.Release != nil {
		r.req.Check = m.Release.Check
	}
	return nil
}

// keepsInstances refuses code that lacks a workflow with unfinished instances.
func (r *release) keepsInstances(m *bundle.Manifest, unfinished map[string]int) error {
	lacks := lacking(m, unfinished)
	if len(lacks) == 0 || r.req.LeaveInstances {
		return nil
	}
	return svc.Errorf(svc.Conflict, svc.CodeReleaseInstances, "the new code lacks workflows that have unfinished instances: %s", listed(lacks)).
		WithHint("let them end, keep the workflow in the code, or leave them with the old version (--leave-instances)")
}

// lacking returns the unfinished instances, as text, of workflows that m lacks.
func lacking(m *bundle.Manifest, unfinished map[string]int) (list []string) {
	for workflow, n := range unfinished {
		has := slices.ContainsFunc(m.Bindings, func(b bundle.Binding) bool { return b.Kind == kinds.Workflow && b.Resource == workflow })
		if !has && n > 0 {
			list = append(list, fmt.Sprintf("%s (%d)", workflow, n))
		}
	}
	slices.Sort(list)
	return list
}

func listed(names []string) string {
	const most = 10
	if more := len(names) - most; more > 0 {
		names = append(slices.Clone(names[:most]), fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}

// settleAhead makes the hold short: no machine admits requests by itself, and the object store has
// nearly all that was written.
func (r *release) settleAhead(ctx context.Context) error {
	r.deps.Gateway.Unshare(r.op.Project)
	if err := r.deps.Gateway.SettleProduction(ctx, r.op.Project); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, aheadLimit, errStepLimit)
	defer cancel()
	now, err := r.deps.Sealer.Seal(ctx, r.previous(), control.Seal{State: control.SealAhead})
	if errors.Is(context.Cause(ctx), errStepLimit) {
		return svc.Errorf(svc.Unavailable, svc.CodeStepTimeout, "the object store has not taken within %s what production wrote; production is unchanged", aheadLimit).
			WithHint("release again when GET /v1/health/deep says that the object store answers").Because(err)
	}
	if err != nil {
		return err
	}
	return r.keepsInstances(r.manifest, now.Unfinished)
}

// aheadLimit bounds the time for the object store to take what production wrote. No request waits
// meanwhile, but neither another release nor a restart of production can begin.
const aheadLimit = time.Minute

// drain waits for the requests in flight. Websockets are not waited for: the switch closes them.
func (r *release) drain(ctx context.Context) error {
	waiting, cancel := context.WithTimeout(ctx, r.deps.ReleaseDrain)
	defer cancel()
	err := r.deps.Gateway.DrainProduction(waiting, r.op.Project)
	if err == nil || ctx.Err() == nil && r.req.LateRequests == svc.LateRefuse {
		return nil
	}
	return svc.Errorf(svc.Unavailable, svc.CodeReleaseBusy, "requests of production did not end within %s: %s", r.deps.ReleaseDrain, err).
		WithHint("release again, or let them continue without writes: --late-requests refuse").Because(err)
}

// pause lets no event begin, and waits for those under way and for work of waitUntil: that has the
// time of the requests which gave it, and is late like those.
func (r *release) pause(ctx context.Context) error {
	now, err := r.deps.Sealer.Seal(ctx, r.previous(), control.Seal{
		State: control.SealPaused, Drain: r.deps.ReleaseDrain, Interrupt: r.req.InterruptEvents,
		Wait: max(r.deps.ReleaseDrain-time.Since(r.hold), 0), Late: r.req.LateRequests == svc.LateRefuse,
	})
	if err != nil || len(now.Running) == 0 {
		return err
	}
	return svc.Errorf(svc.Unavailable, svc.CodeReleaseBusy, "events of production did not end within %s: %s", r.deps.ReleaseDrain, listed(now.Running)).
		WithHint("release again, or end events (--interrupt-events) and let work of waitUntil continue without writes (--late-requests refuse)")
}

// seal has the writes of production wait, and returns the cut.
func (r *release) seal(ctx context.Context) (control.Sealing, error) {
	sealed, err := r.deps.Sealer.Seal(ctx, r.previous(), control.Seal{State: control.SealSealed})
	for _, n := range sealed.Unfinished {
		r.done.MovedInstances += n
	}
	r.done.MovedAlarms, r.stopped = sealed.Alarms, sealed.Stopped
	return sealed, err
}

// prepare opens the data of the new version at the cut.
func (r *release) prepare(ctx context.Context, sealed control.Sealing) error {
	_, err := r.deploy.Prepare(ctx, sealed.Cut)
	return err
}

// commit makes the new version production in the registry.
func (r *release) commit(ctx context.Context) error {
	committed, err := r.deploy.Commit(ctx, "released "+r.op.Candidate)
	if !committed {
		return err
	}
	r.cutOff = !r.awaitCopy(ctx)
	return nil
}

// awaitCopy waits until the commit survives the loss of this machine where another one can take over,
// however long: that one would continue with the old production, without what the new one has
// acknowledged. Until then neither accepts a write. It returns false when the service stops before.
func (r *release) awaitCopy(ctx context.Context) bool {
	if r.deps.Survives == nil {
		return true
	}
	waiting, cancel := r.work.Until(ctx)
	defer cancel()
	var said reminder
	for retry := newRetry(); ; {
		err := r.deps.Survives(waiting)
		if err == nil {
			return true
		}
		if said.due() {
			r.log.ErrorContext(ctx, "the copy of the registry lacks a release; requests of production wait for it", "error", err)
		}
		if retry.Sleep(waiting) != nil {
			return false
		}
	}
}
