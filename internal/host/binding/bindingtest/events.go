package bindingtest

import (
	"context"

	"github.com/svcctl/svcctl/internal/svc"
)

// Dispatch sends an event to a worker that Start started.
func (w *Worker) Dispatch(ctx context.Context, e svc.Event) (svc.EventResult, error) {
	return w.events.Dispatch(ctx, e)
}

// Kill ends workerd immediately.
func (w *Worker) Kill() { w.kill() }

// Stop ends workerd as a version that stops does: events under way have until ctx
// ends.
func (w *Worker) Stop(ctx context.Context) {
	w.events.Shut()
	w.events.Wait(ctx)
	w.kill()
}
