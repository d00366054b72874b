package binding_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/svc"
)

// actor is an Instance that sends the worker one event when it is started.
type actor struct {
	name string
	fail bool
	wake time.Duration // after now; 0 for never

	log     *journal
	running sync.WaitGroup
	worker  binding.Worker
}

// journal is what happened.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (a *actor) say(what string) {
	a.log.mu.Lock()
	defer a.log.mu.Unlock()
	a.log.lines = append(a.log.lines, what+" "+a.name)
}

// take gives the lines since the last call.
func (j *journal) take() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	lines := j.lines
	j.lines = nil
	return lines
}

func (a *actor) ServeHTTP(http.ResponseWriter, *http.Request) {}
func (a *actor) Close() error                                 { a.say("close"); return nil }
func (a *actor) Pending() int                                 { return 2 }

func (a *actor) NextWake() (time.Time, bool) { return time.Now().Add(a.wake), a.wake > 0 }

func (a *actor) Start(ctx context.Context, w binding.Worker) error {
	if a.fail {
		return errors.New("it does not start")
	}
	a.say("start")
	a.worker = w
	a.running.Go(func() { a.send(ctx) })
	return nil
}

// send sends an event and says how it ended.
func (a *actor) send(ctx context.Context) {
	r, err := a.worker.Dispatch(ctx, svc.Event{Scheduled: &svc.Scheduled{Cron: a.name}})
	if errors.Is(err, svc.Unavailable) {
		r.Outcome = "refused"
	}
	a.say(string(r.Outcome))
}

func (a *actor) Stop() {
	a.running.Wait()
	a.say("stop")
}

type armedActor struct{ *actor }

func (armedActor) Armed() {}

// slow is a worker whose events last.
type slow time.Duration

func (d slow) Dispatch(ctx context.Context, _ svc.Event) (svc.EventResult, error) {
	select {
	case <-time.After(time.Duration(d)):
		return svc.EventResult{Outcome: svc.OutcomeOK}, nil
	case <-ctx.Done():
		return svc.EventResult{Outcome: svc.OutcomeCanceled}, nil
	}
}

// actors is a kind of actors, by resource.
type actors struct {
	kind
	all map[string]binding.Instance
}

func (k actors) Open(_ context.Context, d bundle.Binding, _ volume.Volumes) (binding.Instance, error) {
	return k.all[d.Resource], nil
}

// openActors opens a set with a cron-like actor, one that is not, and what is none.
func openActors(t *testing.T, free, armed *actor) (*binding.Set, *journal) {
	t.Helper()
	log := new(journal)
	free.name, free.log, armed.name, armed.log = "free", log, "armed", log
	var other []string
	k := actors{kind{name: "k"}, map[string]binding.Instance{"free": free, "armed": armedActor{armed}, "other": &instance{kind: kind{log: &other}}}}
	set, err := binding.OpenAll(t.Context(), []binding.Kind{k}, manifest(
		bundle.Binding{Name: "A", Kind: "k", Resource: "free"}, bundle.Binding{Name: "B", Kind: "k", Resource: "armed"},
		bundle.Binding{Name: "C", Kind: "k", Resource: "other"}), nil)
	if err != nil {
		t.Fatal(err)
	}
	return set, log
}

// TestStarters: an Armed one runs exactly while the version serves and is armed.
func TestStarters(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		free, armed := &actor{wake: time.Hour}, &actor{wake: time.Minute}
		set, log := openActors(t, free, armed)
		expect := func(step string, want ...string) {
			t.Helper()
			synctest.Wait()
			got := log.take()
			slices.Sort(got) // things of the same moment
			if !slices.Equal(got, want) {
				t.Errorf("%s: %q, want %q", step, got, want)
			}
		}
		do := func(err error) {
			t.Helper()
			if err != nil {
				t.Error(err)
			}
		}
		do(set.Arm(t.Context(), true))
		do(set.Arm(t.Context(), false))
		expect("before it serves")
		do(set.Start(t.Context(), slow(time.Second)))
		do(set.Arm(t.Context(), false))
		expect("not armed", "start free")
		do(set.Arm(t.Context(), true))
		do(set.Arm(t.Context(), true))
		expect("armed", "start armed")
		do(set.Arm(t.Context(), false))
		armed.send(t.Context())
		do(set.Arm(t.Context(), true))
		expect("armed again while it stops", "refused armed")
		time.Sleep(time.Second)
		expect("when it has stopped", "ok armed", "ok free", "start armed", "stop armed")
		due := time.Now().Add(time.Minute)
		set.Stop(t.Context()) // takes a second
		do(set.Arm(t.Context(), true))
		expect("stopped", "ok armed", "stop armed", "stop free")
		if w := set.Wake(); w.Pending != 4 || !w.At.Equal(due) { // what the armed one was to send counts
			t.Errorf("wakes %+v, want %s", w, due)
		}
		do(set.Close())
		expect("closed", "close armed", "close free")
	})
}

// Events that outlast the time of a stop are canceled; Close does not wait for any.
func TestStartersAreBounded(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(context.Context, *binding.Set) time.Duration{
		"stop": func(ctx context.Context, s *binding.Set) time.Duration {
			ctx, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			s.Stop(ctx)
			return time.Minute
		},
		"close": func(_ context.Context, s *binding.Set) time.Duration { _ = s.Close(); return 0 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				set, log := openActors(t, &actor{}, &actor{fail: true})
				if w := set.Wake(); !w.At.IsZero() || !set.CallsWorker() {
					t.Errorf("wakes %+v, acts %t", w, set.CallsWorker())
				}
				if err := set.Start(t.Context(), slow(time.Hour)); err != nil {
					t.Error(err)
				}
				if err := set.Arm(t.Context(), true); err == nil || !strings.Contains(err.Error(), "starting k/armed: it does not start") {
					t.Errorf("armed: %v", err)
				}
				synctest.Wait() // the event is under way
				began := time.Now()
				if want := stop(t.Context(), set); time.Since(began) != want {
					t.Errorf("it took %s, not %s", time.Since(began), want)
				}
				if got := strings.Join(log.take(), ", "); !strings.HasPrefix(got, "start free, canceled free, stop free") {
					t.Error(got)
				}
			})
		})
	}
}
