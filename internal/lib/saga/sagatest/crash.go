package sagatest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/lib/saga"
)

// Crashes runs a saga of three steps that crashes at its k-th crash point, for
// every k, and resumes it, crashing again up to crashes-1 times at every later
// point. Crash points lie before and after each journal entry and each effect of
// a step. Crashes does so without a failing step, with each step failing always,
// and with each failing once. Every run must end all done or all undone, and
// report which.
func Crashes(t *testing.T, fresh func(*testing.T) saga.Journal, crashes int) {
	t.Helper()
	for _, tc := range scenarios() {
		t.Run(tc.name(), func(t *testing.T) {
			t.Parallel()
			tc.explore(t, fresh, nil, crashes)
		})
	}
}

const steps = 3

var errStep = errors.New("the step fails")

// scenario says which step fails (-1: none) and whether it recovers.
type scenario struct {
	failing int
	once    bool
}

func scenarios() []scenario {
	all := []scenario{{failing: -1}}
	for i := range steps {
		all = append(all, scenario{i, false}, scenario{i, true})
	}
	return all
}

func (sc scenario) name() string {
	switch {
	case sc.failing < 0:
		return "no failure"
	case sc.once:
		return fmt.Sprintf("step %d fails once", sc.failing)
	}
	return fmt.Sprintf("step %d fails", sc.failing)
}

// explore replays the run with the crashes at plan and then at every later crash
// point, until a run ends without reaching its crash.
func (sc scenario) explore(t *testing.T, fresh func(*testing.T) saga.Journal, plan []int, left int) {
	t.Helper()
	for k := 1; ; k++ {
		next := append(append([]int{}, plan...), k)
		w := &world{scenario: sc, journal: fresh(t)}
		if !w.play(t, next) {
			return // ended before its last crash: no later crash point exists
		}
		if left > 1 {
			sc.explore(t, fresh, next, left-1)
		}
	}
}

// world is what survives a crash: the journal and the steps' effects.
type world struct {
	scenario
	journal saga.Journal
	done    [steps]bool
	failed  bool // the step that fails once has failed
	left    int  // crash points until the next crash, 0 = none
}

// crash is the panic that simulates SIGKILL.
type crash struct{}

// crashPoint panics when the next crash is due.
func (w *world) crashPoint() {
	if w.left--; w.left == 0 {
		panic(crash{})
	}
}

// play starts the process once for each entry of plan, where it crashes, and
// then runs it to the end. It reports whether the last crash was reached.
func (w *world) play(t *testing.T, plan []int) (crashed bool) {
	t.Helper()
	for _, k := range plan {
		w.left = k
		var err error
		if err, crashed = w.live(t.Context()); !crashed {
			w.check(t, plan, err)
			break
		}
	}
	w.left = 0
	for range 2 { // the second Resume must not change an ended run
		err, _ := w.live(t.Context())
		w.check(t, plan, err)
	}
	return crashed
}

// live is one process: Resume on an empty journal is Run.
func (w *world) live(ctx context.Context) (err error, crashed bool) {
	defer func() {
		switch r := recover(); r.(type) {
		case nil:
		case crash:
			crashed = true
		default:
			panic(r)
		}
	}()
	s := saga.Saga[*world]{Grace: time.Minute}
	for i := range steps {
		s.Steps = append(s.Steps, saga.Step[*world]{
			Name: fmt.Sprintf("s%d", i),
			Do:   func(context.Context, *world) error { return w.do(i) },
			Undo: func(context.Context, *world) error { return w.undo(i) },
		})
	}
	return s.Resume(ctx, crashing{w}, w), false
}

func (w *world) do(i int) error {
	w.crashPoint()
	if i == w.failing && (!w.once || !w.failed) {
		w.failed = true
		return errStep
	}
	w.done[i] = true
	w.crashPoint()
	return nil
}

func (w *world) undo(i int) error {
	w.crashPoint()
	w.done[i] = false
	w.crashPoint()
	return nil
}

// check asserts the guarantee of a saga for one ended run.
func (w *world) check(t *testing.T, plan []int, err error) {
	t.Helper()
	switch {
	case errors.Is(err, saga.ErrIncomplete):
		t.Fatalf("crashes at %v: incomplete: %v", plan, err)
	case err == nil && w.done != [steps]bool{true, true, true}:
		t.Fatalf("crashes at %v: no error, but done = %v", plan, w.done)
	case err != nil && w.done != [steps]bool{}:
		t.Fatalf("crashes at %v: %v, but done = %v", plan, err, w.done)
	case err != nil && w.failing < 0:
		t.Fatalf("crashes at %v: undone without a failing step: %v", plan, err)
	case err == nil && w.failing >= 0 && !w.once:
		t.Fatalf("crashes at %v: done although step %d fails", plan, w.failing)
	}
}

// crashing is a journal with a crash point before and after each entry.
type crashing struct{ *world }

func (c crashing) Record(ctx context.Context, e saga.Entry) error {
	c.crashPoint()
	err := c.journal.Record(ctx, e)
	c.crashPoint()
	return err
}

func (c crashing) Steps(ctx context.Context) ([]saga.Entry, error) { return c.journal.Steps(ctx) }
