package cron

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/lib/cronexpr"
)

const (
	// clockError is the most by which a clock may be set back without effect: runs
	// continue where they were. A clock that is set back further was wrong before.
	clockError = time.Hour
	// maxLate is how late a run may begin. One that would begin later was missed.
	maxLate = time.Minute
	// journalRetry is the wait after the journal could not be read.
	journalRetry = 10 * time.Second
)

// schedules are the expressions of a version: an Armed Starter.
type schedules struct {
	list    []cronexpr.Schedule
	journal *journal
	clock   clock

	work sync.WaitGroup
	quit context.CancelFunc // stops the loop, not the runs

	mu      sync.Mutex // guards what follows
	next    time.Time  // zero while it is not armed
	running map[int64]bool

	missedSince time.Time // of Kind, until Start
}

var _ binding.Armed = (*schedules)(nil)

// Armed says that the cron rule applies.
func (*schedules) Armed() {}

// ServeHTTP answers no requests: the worker has no binding.
func (*schedules) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.WriteHeader(http.StatusNotFound)
}

// Close leaves the journal to its owner.
func (*schedules) Close() error { return nil }

// Start begins to run the expressions from now on, or since MissedSince.
// spec: [C1.10], [C10.2], [C10.3].
func (s *schedules) Start(ctx context.Context, w binding.Worker) error {
	if len(s.list) == 0 {
		return nil
	}
	loop, quit := context.WithCancel(ctx)
	s.quit = quit
	now := s.clock.now()
	s.setNext(now)
	t := newTimetable(s.list, s.from(now))
	s.work.Go(func() { s.follow(loop, ctx, w, t, now) })
	return nil
}

// from returns the time after which runs begin, for schedules that are armed now.
func (s *schedules) from(now time.Time) time.Time {
	missed := s.missedSince
	s.missedSince = time.Time{}
	if missed.IsZero() || missed.After(now) {
		return now
	}
	from := missed.Add(-time.Nanosecond) // the run that is due at missed, too
	if oldest := now.Add(-maxLate); from.Before(oldest) {
		return oldest
	}
	return from
}

// Stop begins no more runs and waits for those under way.
func (s *schedules) Stop() {
	if s.quit != nil {
		s.quit()
	}
	s.work.Wait()
	s.setNext(time.Time{})
}

// NextWake returns when the next run is due; false while the version is not armed.
func (s *schedules) NextWake() (time.Time, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.next, !s.next.IsZero()
}

// Pending counts the runs under way.
func (s *schedules) Pending() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.running)
}

func (s *schedules) setNext(at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next = at
}

// timetable is when each expression is due.
type timetable struct {
	list []cronexpr.Schedule
	due  []time.Time
	seen time.Time // the latest time of the clock
}

func newTimetable(list []cronexpr.Schedule, now time.Time) *timetable {
	t := &timetable{list: list, due: make([]time.Time, len(list)), seen: now}
	for i, e := range list {
		t.due[i] = e.Next(now)
	}
	return t
}

// next returns the earliest due time.
func (t *timetable) next() time.Time {
	next := t.due[0]
	for _, at := range t.due {
		if at.Before(next) {
			next = at
		}
	}
	return next
}

// take returns the runs that begin now and moves each expression to its next time.
func (t *timetable) take(now time.Time) (runs []run) {
	wrong := t.seen.Sub(now) > clockError
	if wrong || now.After(t.seen) {
		t.seen = now
	}
	for i, e := range t.list {
		due := !t.due[i].After(now)
		if due && now.Sub(t.due[i]) < maxLate {
			runs = append(runs, run{cron: e.String(), due: t.due[i], started: now})
		}
		if due || wrong {
			t.due[i] = e.Next(now)
		}
	}
	return runs
}

// follow runs the expressions until loop ends. ctx is of the runs.
func (s *schedules) follow(loop, ctx context.Context, w binding.Worker, t *timetable, armed time.Time) {
	for recovered := false; ; {
		until := t.next()
		s.setNext(until)
		if !recovered {
			err := s.repeatInterrupted(loop, ctx, w, armed)
			if recovered = err == nil; !recovered {
				slog.WarnContext(ctx, "cannot read the journal of cron runs; retrying", "error", err, "retry_in", journalRetry) //nolint:sloglint // a kind gets no logger
				until = earlier(until, s.clock.now().Add(journalRetry))
			}
		}
		if s.clock.sleep(loop, until) != nil {
			return
		}
		if runs := t.take(s.clock.now()); len(runs) > 0 {
			s.begin(loop, ctx, w, runs)
		}
	}
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// repeatInterrupted repeats the runs that the end of an earlier process cut off, if the
// next run of their expression is not yet due.
func (s *schedules) repeatInterrupted(loop, ctx context.Context, w binding.Worker, armed time.Time) error {
	runs, err := s.journal.interrupted(loop, armed)
	if err != nil {
		return err
	}
	for _, old := range runs {
		now := s.clock.now()
		r := run{cron: old.cron, due: old.due, started: now, retry: true}
		if !s.current(r, now) {
			continue
		}
		if err := s.journal.repeat(loop, &r); err != nil {
			return err
		}
		s.mark(r.id, true)
		s.work.Go(func() { s.run(ctx, w, &r) })
	}
	return nil
}

// current reports whether a run is the last one of its expression that is due.
func (s *schedules) current(r run, now time.Time) bool {
	for _, e := range s.list {
		if e.String() == r.cron {
			return now.Sub(r.due) < clockError && e.Next(r.due).After(now)
		}
	}
	return false
}
