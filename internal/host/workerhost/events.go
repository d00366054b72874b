package workerhost

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/host/door"
	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/svc"
)

// Dispatch sends an event to the worker, as binding.Worker says. How it ended is
// written to the worker's log.
func (h *Host) Dispatch(ctx context.Context, e svc.Event) (svc.EventResult, error) {
	w := h.running()
	if w == nil || !w.serving.Load() {
		return svc.EventResult{}, errNotServing()
	}
	if w.door == nil {
		return svc.EventResult{}, door.ErrNoHandler(e)
	}
	if w.memory.wake() {
		go h.opts.Works()
	}
	r, err := w.door.Dispatch(ctx, e)
	if err != nil {
		return r, err
	}
	h.events.add(e.Handler(), r.Outcome)
	w.stdout.log.write(ending(e, r))
	w.stdout.log.redact(&r)
	return r, nil
}

// redact removes from a result what does not appear in the log.
func (l *logbook) redact(r *svc.EventResult) {
	for i := range r.Logs {
		r.Logs[i].Message = l.clean(r.Logs[i].Message)
	}
	if e := r.Error; e != nil {
		r.Error = &svc.EventError{Name: l.clean(e.Name), Message: l.clean(e.Message), Stack: l.clean(e.Stack)}
	}
}

// eventCounts are the events that ended and that no Pong has counted.
type eventCounts struct {
	mu   sync.Mutex
	n    map[svc.EventCount]int // by handler and outcome
	when time.Time              // the last one ended
}

func (c *eventCounts) last() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.when
}

func (c *eventCounts) add(handler string, o svc.Outcome) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		c.n = map[svc.EventCount]int{}
	}
	c.n[svc.EventCount{Handler: handler, Outcome: o}]++
	c.when = time.Now()
}

// TakeEvents returns the events that ended since the last call.
func (h *Host) TakeEvents() (list []svc.EventCount) {
	h.events.mu.Lock()
	defer h.events.mu.Unlock()
	for e, n := range h.events.n {
		e.N = n
		list = append(list, e)
	}
	clear(h.events.n)
	return list
}

// ending is the entry of the log about an event that is over.
func ending(e svc.Event, r svc.EventResult) *svc.LogLine {
	i := &svc.Invocation{Kind: e.Handler(), Outcome: string(r.Outcome), Duration: r.Duration}
	switch {
	case e.Scheduled != nil && e.Scheduled.Cron != "":
		i.Detail = strconv.Quote(e.Scheduled.Cron)
	case e.Workflow != nil:
		i.Detail = fmt.Sprintf("%q instance %q", e.Workflow.Workflow, e.Workflow.Instance)
	case e.Queue != nil:
		i.Detail = fmt.Sprintf("%q (messages: %d)", e.Queue.Queue, len(e.Queue.Messages))
	}
	return &svc.LogLine{Level: i.Level(), Source: svc.LogEvent, RequestID: r.RequestID, Invocation: i}
}

// ended is the entry of the log about a call that the host does not see, such as an object's
// alarm.
func ended(l workerd.LogLine) *svc.LogLine {
	var end struct {
		Kind    string  `json:"kind"`
		Detail  string  `json:"detail"`
		Outcome string  `json:"outcome"`
		Ms      float64 `json:"ms"`
	}
	_ = json.Unmarshal([]byte(l.Message), &end) // of the entry module, or of a worker that imitates it
	i := &svc.Invocation{Kind: end.Kind, Detail: end.Detail, Outcome: end.Outcome, Duration: time.Duration(end.Ms * float64(time.Millisecond))}
	return &svc.LogLine{Level: i.Level(), Source: svc.LogEvent, RequestID: l.ID, Invocation: i}
}

// Arm says whether the version is armed: whether bindings may send the worker
// scheduled events. spec: [C10.1], [C10.2].
func (h *Host) Arm(ctx context.Context, armed bool) error {
	v := h.open.Load()
	if v == nil {
		return errNotOpen()
	}
	return v.resources.Arm(ctx, armed)
}

// Events says whether the worker gets events.
func (h *Host) Events(ctx context.Context, on bool) error {
	v := h.open.Load()
	if v == nil {
		return errNotOpen()
	}
	return errors.Join(v.resources.SetEvents(ctx, on), h.holdAlarms(ctx, holdEvents, !on))
}

// ReadOnly says whether the project of the version is read-only. If it is, alarms that run have the time
// of other events before the writes of the worker fail; those that are due begin when writes succeed.
func (h *Host) ReadOnly(ctx context.Context, on bool) error {
	v := h.open.Load()
	if v == nil {
		return errNotOpen()
	}
	if !on {
		return errors.Join(v.resources.SetReadOnly(ctx, false), h.holdAlarms(ctx, holdReadOnly, false))
	}
	err := h.holdAlarms(ctx, holdReadOnly, true)
	if err == nil {
		h.awaitAlarms(ctx, time.Now().Add(readOnlyDrain))
	}
	return errors.Join(err, v.resources.SetReadOnly(ctx, true))
}

// NextWake says when the version needs to run next, for its own work.
func (h *Host) NextWake(context.Context) (svc.Wake, error) {
	v := h.open.Load()
	if v == nil {
		return svc.Wake{}, errNotOpen()
	}
	w := v.resources.Wake()
	w.Worked = h.events.last() // last: an event that ends meanwhile is pending, or counts here
	return w, nil
}

// endEvents stops the bindings that call the worker and refuses events. Those
// under way have half of the time that is left, for requests need some too.
func (h *Host) endEvents(ctx context.Context, until time.Time) {
	ctx, cancel := context.WithTimeout(ctx, time.Until(until)/2)
	defer cancel()
	if v := h.open.Load(); v != nil {
		v.resources.Stop(ctx)
	}
	if w := h.running(); w != nil && w.door != nil {
		w.door.Shut()
		w.door.Wait(ctx) // the rest ends with workerd
	}
}

// awaitEvents waits until the callers of events have their results. workerd is gone.
func (w *worker) awaitEvents(ctx context.Context) {
	if w.door == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, drainLimit)
	defer cancel()
	w.door.Wait(ctx)
}
