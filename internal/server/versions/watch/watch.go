package watch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/svcctl/svcctl/internal/lib/backoff"
	"github.com/svcctl/svcctl/internal/svc"
)

// maxTries bounds the releases that go back, of which each may be undone.
const maxTries = 3

// watch is the watch over one release. One goroutine has it.
type watch struct {
	*Service
	op    svc.Promotion
	rule  svc.WatchRule
	now   svc.Watch
	log   *slog.Logger
	tries int
}

// untilEnd looks at the release until its watch has ended, or the service stops.
func (w *watch) untilEnd(ctx context.Context) {
	waiting, cancel := w.work.Until(ctx)
	defer cancel()
	w.log.InfoContext(ctx, "watching a release", "until", w.now.Until, "abort_on", w.now.AbortOn)
	for backoff.Sleep(waiting, max(min(w.deps.Interval, time.Until(w.now.Until)), time.Second)) == nil {
		ended, err := w.look(ctx)
		if ended {
			return
		}
		if err != nil {
			w.log.WarnContext(ctx, "watching a release failed; trying again", "error", err)
		}
	}
}

// look reports whether the watch has ended.
func (w *watch) look(ctx context.Context) (ended bool, err error) {
	back, err := w.goingBack(ctx)
	if err != nil || back == svc.PromotionRunning {
		return false, err
	}
	p, err := w.deps.Registry.Project(ctx, w.op.Project)
	switch {
	case errors.Is(err, svc.NotFound), errors.Is(err, svc.Gone):
		return true, nil
	case err != nil:
		return false, err
	case back == svc.PromotionDone:
		return w.end(ctx, svc.WatchAborted, w.now.Detail)
	case p.ProdVersionID != w.op.Version:
		return w.end(ctx, svc.WatchStopped, fmt.Sprintf("%s became production", p.ProdVersionID))
	}
	detail, exceeded := w.rule.Exceeded(w.deps.Traffic.Version(svc.Ref{Project: w.op.Project, Version: w.op.Version}, w.now.For))
	switch {
	case exceeded:
		return w.goBack(ctx, detail)
	case time.Until(w.now.Until) <= 0:
		return w.end(ctx, svc.WatchPassed, "")
	}
	return false, nil
}

// goingBack returns the status of the release that goes back, "" without one.
func (w *watch) goingBack(ctx context.Context) (svc.PromotionStatus, error) {
	if w.now.Operation == "" {
		return "", nil
	}
	op, err := w.deps.Registry.Promotion(ctx, w.op.Project, w.now.Operation)
	if errors.Is(err, svc.NotFound) {
		return "", nil
	}
	return op.Status, err
}

// goBack releases the code of before on the data of now.
func (w *watch) goBack(ctx context.Context, detail string) (ended bool, err error) {
	if w.tries == maxTries {
		return w.end(ctx, svc.WatchStopped, fmt.Sprintf("%s; the release of the earlier code was undone %d times", detail, maxTries))
	}
	req := svc.ReleaseRequest{Rollback: true, Reason: "watch: " + detail, ExpectedProd: &w.op.Version}
	if w.tries > 0 { // visitors get errors meanwhile
		req.LateRequests, req.InterruptEvents = svc.LateRefuse, true
	}
	op, err := w.deps.Release(ctx, svc.Ref{Project: w.op.Project, Version: w.op.Previous}, req)
	switch {
	case err == nil:
	case isPassing(err):
		return false, err
	default:
		return w.end(ctx, svc.WatchStopped, fmt.Sprintf("%s, but the server did not go back: %s: %s", detail, svc.CodeOf(err), svc.AsError(err).Error()))
	}
	w.tries++
	w.log.WarnContext(ctx, "a release exceeds its limit; going back to the earlier code", "detail", detail, "to", w.op.Previous, "release", op.ID)
	w.now.Detail, w.now.Operation = detail, op.ID
	return false, w.deps.Registry.SetWatch(ctx, w.op, w.now)
}

// isPassing reports whether a later attempt may succeed.
func isPassing(err error) bool {
	code := svc.CodeOf(err)
	return errors.Is(err, svc.Unavailable) || code == svc.CodePromoteInProgress || code == svc.CodeProductionMoved // the next look sees it
}

// end stores the result.
func (w *watch) end(ctx context.Context, state svc.WatchState, detail string) (ended bool, err error) {
	w.now.State, w.now.Detail = state, detail
	if err := w.deps.Registry.SetWatch(ctx, w.op, w.now); err != nil {
		w.now.State = svc.WatchWatching
		return false, err
	}
	level := slog.LevelInfo
	if state == svc.WatchStopped {
		level = slog.LevelWarn
	}
	w.log.Log(ctx, level, "the watch over a release ended", "state", string(state), "detail", detail, "release", w.now.Operation)
	return true, nil
}
