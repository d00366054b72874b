package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// releaseFlags are the flags for the fields of the request.
func releaseFlags() map[string]string {
	return map[string]string{
		"/version_id": "--version", "/git_ref": "--git-ref", "/max_hold_ms": "--max-hold", "/late_requests": "--late-requests", "/check": "--check", "/watch": "--watch",
	}
}

func (o releaseOptions) request() api.ReleaseVersion {
	l := o.limits
	r := api.ReleaseVersion{
		VersionID: o.version, Reason: o.reason, ExpectedProdVersionID: o.expected, Rollback: o.rollback, Force: o.force,
		Check: l.check, MaxHoldMs: l.maxHoldMS, LateRequests: api.ReleaseVersionLateRequests(l.late), InterruptEvents: l.interrupt, LeaveInstances: l.leave,
	}
	if o.gitRef != "" {
		r.GitRef = &o.gitRef
	}
	if l.watchAfter > 0 {
		r.Watch = &api.ReleaseWatch{Seconds: max(1, int(l.watchAfter.Seconds())), AbortOn: l.abortOn}
	}
	return r
}

// released is the answer to a release, with what became of it.
type released struct {
	api.ReleaseAccepted
	Kind              api.PromotionKind `json:"kind"`
	HeldMs            *float64          `json:"held_ms"`
	ExpectedHoldMs    float64           `json:"expected_hold_ms"`
	Moved             *api.MovedWork    `json:"moved"`
	LateWritesRefused int               `json:"late_writes_refused"`
	HoldSteps         []api.HoldStep    `json:"hold_steps"`

	rollback bool
}

// release starts the release of a candidate of o.project and waits for its end.
func release(ctx context.Context, k *kit.Kit, c *client.Client, o releaseOptions, candidate string) (released, error) {
	progress := k.NewProgress()
	progress.Stage("releasing " + candidate)
	defer progress.Abort()
	accepted, err := c.Release(ctx, o.project, candidate, o.request())
	if err != nil {
		return released{}, kit.InFlags(err, releaseFlags())
	}
	done, err := waitRelease(ctx, k, c, accepted, o)
	if err == nil {
		progress.Done("")
	}
	return done, err
}

// waitRelease waits for the end of a release that runs.
func waitRelease(ctx context.Context, k *kit.Kit, c *client.Client, accepted api.ReleaseAccepted, o releaseOptions) (released, error) {
	r := released{ReleaseAccepted: accepted, Kind: api.PromotionKindRelease, rollback: o.rollback}
	ctx, cancel := context.WithTimeout(ctx, o.timeout+time.Duration(o.limits.maxHoldMS)*time.Millisecond)
	defer cancel()
	p, err := c.WaitPromotion(ctx, accepted.ProjectID, accepted.OperationID)
	look := k.Again("promotions", "get", accepted.OperationID, "--project", accepted.ProjectID)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return r, &kit.TimeoutError{Text: "the release is still running; to look at it:\n  " + look}
	case err != nil && ctx.Err() != nil:
		return r, &kit.InterruptedError{Text: "stopped waiting; the release continues; to look at it:\n  " + look}
	case err != nil:
		return r, err
	}
	r.Status, r.HeldMs, r.ExpectedHoldMs, r.Moved, r.LateWritesRefused, r.HoldSteps = p.Status, p.HeldMs, p.ExpectedHoldMs, p.Moved, p.LateWritesRefused, p.HoldSteps
	return r, nil
}

// showReleased says what production is now, and the two ways back.
func showReleased(k *kit.Kit, r released) {
	k.Printf("%s/%s is production (was %s)   %s", r.ProjectID, r.VersionID, r.PreviousVersionID, r.facts())
	k.Printf("production: %s", kit.Clean(r.ProdURL))
	if r.rollback {
		k.Notef("it has the code of %s and the data of %s", r.CandidateVersionID, r.PreviousVersionID)
		return
	}
	k.Notef("back, data kept:  svcctl rollback --keep-data      back with the data of before %s:  svcctl rollback --restore-data", r.VersionID)
}

// facts are the hold and what moved, in one line.
func (r released) facts() string {
	var parts []string
	if r.HeldMs != nil {
		parts = append(parts, "held "+wholeMillis(*r.HeldMs))
	}
	parts = append(parts, "0 writes lost")
	if r.LateWritesRefused > 0 {
		parts = append(parts, count(int64(r.LateWritesRefused), "late write")+" refused")
	}
	return strings.Join(append(parts, movedParts(r.Moved)...), "   ")
}

func movedParts(m *api.MovedWork) (parts []string) {
	if m != nil && m.Instances > 0 {
		parts = append(parts, count(int64(m.Instances), "workflow instance")+" moved")
	}
	if m != nil && m.Alarms > 0 {
		parts = append(parts, count(int64(m.Alarms), "alarm")+" moved")
	}
	return parts
}

// wholeMillis writes milliseconds for people: 84ms, 1.204s.
func wholeMillis(ms float64) string {
	if ms < 1 {
		return millis(ms)
	}
	return time.Duration(ms * float64(time.Millisecond)).Round(time.Millisecond).String()
}

// holdOf writes an expected hold, which is an estimate.
func holdOf(ms float64) string { return fmt.Sprintf("%.1fs", ms/1000) }
