package saga_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/lib/saga"
	"github.com/svcctl/svcctl/internal/lib/saga/sagatest"
)

var errBoom = errors.New("boom")

// trace is a journal and a state in one: it lists what happened, in order.
type trace struct {
	sagatest.Mem
	log    []string
	refuse saga.Entry // Record fails for this step and phase
}

func (tr *trace) Record(ctx context.Context, e saga.Entry) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if e.Step == tr.refuse.Step && e.Phase == tr.refuse.Phase {
		return errBoom
	}
	tr.log = append(tr.log, e.Step+" "+string(e.Phase))
	return tr.Mem.Record(ctx, e)
}

func step(name string, do, undo error) saga.Step[*trace] {
	return saga.Step[*trace]{
		Name: name,
		Do:   func(_ context.Context, tr *trace) error { tr.log = append(tr.log, "do "+name); return do },
		Undo: func(ctx context.Context, tr *trace) error {
			tr.log = append(tr.log, "undo "+name)
			return errors.Join(undo, ctx.Err())
		},
	}
}

func detached(s saga.Step[*trace]) saga.Step[*trace] {
	s.Detached = true
	return s
}

// spec: [C8.10]
func TestRun(t *testing.T) {
	t.Parallel()
	a, b, c := step("a", nil, nil), step("b", nil, nil), step("c", nil, nil)
	failing, stuck := step("b", errBoom, nil), step("a", nil, errBoom)
	for name, tc := range map[string]struct {
		steps      []saga.Step[*trace]
		refuse     saga.Entry
		want       []string
		err        error
		incomplete bool
	}{
		"all done": {
			steps: []saga.Step[*trace]{a, b},
			want:  []string{"a started", "do a", "a done", "b started", "do b", "b done"},
		},
		"the failing step is undone first": {
			steps: []saga.Step[*trace]{a, failing, c},
			want:  []string{"a started", "do a", "a done", "b started", "do b", "b failed", "undo b", "b undone", "undo a", "a undone"},
			err:   errBoom,
		},
		"a detached step is left, and the earlier ones are undone": {
			steps: []saga.Step[*trace]{a, detached(step("b", errBoom, errBoom))},
			want:  []string{"a started", "do a", "a done", "b started", "do b", "b failed", "undo b", "undo a", "a undone"},
			err:   errBoom, incomplete: true,
		},
		"a step without undo": {
			steps: []saga.Step[*trace]{{Name: "a", Do: a.Do}, failing},
			want:  []string{"a started", "do a", "a done", "b started", "do b", "b failed", "undo b", "b undone", "a undone"},
			err:   errBoom,
		},
		"compensation stops at a step that cannot be undone": {
			steps:      []saga.Step[*trace]{b, stuck, step("c", errBoom, nil)},
			want:       []string{"b started", "do b", "b done", "a started", "do a", "a done", "c started", "do c", "c failed", "undo c", "c undone", "undo a"},
			err:        errBoom,
			incomplete: true,
		},
		"nothing is undone without a failure in the journal": {
			steps:      []saga.Step[*trace]{a, failing},
			refuse:     saga.Entry{Step: "b", Phase: saga.Failed},
			want:       []string{"a started", "do a", "a done", "b started", "do b"},
			err:        errBoom,
			incomplete: true,
		},
		"a step that cannot be journaled does not start": {
			steps:      []saga.Step[*trace]{a, b},
			refuse:     saga.Entry{Step: "b", Phase: saga.Started},
			want:       []string{"a started", "do a", "a done"},
			err:        errBoom,
			incomplete: true,
		},
		"a done step that cannot be journaled stays": {
			steps:      []saga.Step[*trace]{a, b},
			refuse:     saga.Entry{Step: "a", Phase: saga.Done},
			want:       []string{"a started", "do a"},
			err:        errBoom,
			incomplete: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr := &trace{refuse: tc.refuse}
			err := saga.Saga[*trace]{Steps: tc.steps}.Run(t.Context(), tr, tr)
			if !errors.Is(err, tc.err) || errors.Is(err, saga.ErrIncomplete) != tc.incomplete {
				t.Errorf("err = %v, want %v, incomplete %v", err, tc.err, tc.incomplete)
			}
			if d := cmp.Diff(tc.want, tr.log); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

// TestCanceled: a canceled context stops the run before its next step, and the
// done steps are still undone.
func TestCanceled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	leave := step("a", nil, nil)
	leave.Do = func(context.Context, *trace) error { cancel(); return nil }
	tr := &trace{}
	err := saga.Saga[*trace]{Steps: []saga.Step[*trace]{leave, step("b", nil, nil)}, Grace: time.Minute}.Run(ctx, tr, tr)
	if !errors.Is(err, context.Canceled) || errors.Is(err, saga.ErrIncomplete) {
		t.Errorf("err = %v", err)
	}
	want := []string{"a started", "a done", "b failed", "undo b", "b undone", "undo a", "a undone"}
	if d := cmp.Diff(want, tr.log); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// TestCanceledInTheLastStep: the run is done, so Run returns nil.
func TestCanceledInTheLastStep(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	leave := step("a", nil, nil)
	leave.Do = func(context.Context, *trace) error { cancel(); return nil }
	tr := &trace{}
	if err := (saga.Saga[*trace]{Steps: []saga.Step[*trace]{leave}}).Run(ctx, tr, tr); err != nil {
		t.Errorf("err = %v", err)
	}
}

func TestResume(t *testing.T) {
	t.Parallel()
	a, b, c := step("a", nil, nil), step("b", nil, nil), step("c", nil, nil)
	for name, tc := range map[string]struct {
		journal []saga.Entry
		want    []string
		err     error
	}{
		"empty journal": {
			want: []string{"a started", "do a", "a done", "b started", "do b", "b done", "c started", "do c", "c done"},
		},
		"forward from the last finished step": {
			journal: []saga.Entry{{"a", saga.Started, nil}, {"a", saga.Done, nil}, {"b", saga.Started, nil}},
			want:    []string{"b started", "do b", "b done", "c started", "do c", "c done"},
		},
		"ended": {
			journal: []saga.Entry{{"a", saga.Done, nil}, {"b", saga.Done, nil}, {"c", saga.Done, nil}},
		},
		"compensation continues": {
			journal: []saga.Entry{{"a", saga.Done, nil}, {"b", saga.Failed, errBoom}, {"b", saga.Undone, nil}},
			want:    []string{"undo a", "a undone"},
			err:     errBoom,
		},
		"the decision to compensate survives": {
			journal: []saga.Entry{{"a", saga.Done, nil}, {"b", saga.Started, nil}, {"b", saga.Failed, errBoom}},
			want:    []string{"undo b", "b undone", "undo a", "a undone"},
			err:     errBoom,
		},
		"compensated": {
			journal: []saga.Entry{{"a", saga.Failed, errBoom}, {"a", saga.Undone, nil}},
			err:     errBoom,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr := &trace{}
			for _, e := range tc.journal {
				if err := tr.Mem.Record(t.Context(), e); err != nil {
					t.Fatal(err)
				}
			}
			err := saga.Saga[*trace]{Steps: []saga.Step[*trace]{a, b, c}}.Resume(t.Context(), tr, tr)
			if !errors.Is(err, tc.err) {
				t.Errorf("err = %v, want %v", err, tc.err)
			}
			if d := cmp.Diff(tc.want, tr.log); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

func TestResumeRejectsAnotherSagasJournal(t *testing.T) {
	t.Parallel()
	tr := &trace{}
	if err := tr.Mem.Record(t.Context(), saga.Entry{Step: "from-the-future", Phase: saga.Done}); err != nil {
		t.Fatal(err)
	}
	err := saga.Saga[*trace]{Steps: []saga.Step[*trace]{step("a", nil, nil)}}.Resume(t.Context(), tr, tr)
	if !errors.Is(err, saga.ErrIncomplete) || len(tr.log) != 0 {
		t.Errorf("err = %v, did %v", err, tr.log)
	}
}

func TestCrashes(t *testing.T) {
	t.Parallel()
	sagatest.Crashes(t, func(*testing.T) saga.Journal { return &sagatest.Mem{} }, 2)
}

func TestMemJournal(t *testing.T) {
	t.Parallel()
	sagatest.Journal(t, func(*testing.T) saga.Journal { return &sagatest.Mem{} })
}
