package fork_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/svc"
)

// inBubble runs test on a world with synctest.
func inBubble(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, newWorld(t, time.Hour)) })
}

// made returns the result of a fork of the parent at 7.
func made(warm string) svc.Forked { return svc.Forked{TXID: "7", Databases: 1, Warm: warm} }

func (w *world) forks(t *testing.T, id string, want svc.Forked) {
	t.Helper()
	if got, err := w.Fork(t.Context(), parent, child, id); err != nil || got != want {
		t.Errorf("fork %s: %+v, %v; want %+v", id, got, err, want)
	}
}

func TestFork(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, w *world) {
		w.forks(t, "one", made("warm"))
		w.expect(t, "cut")
		m, err := w.records.Load(t.Context(), child)
		if err != nil || m == nil || m.Parent != parent || m.ForkID != "one" || m.Databases["database-main"].TXID != 7 {
			t.Errorf("the manifest is %+v, %v", m, err)
		}
		if len(w.made) != 1 {
			t.Errorf("the observer counted %d forks", len(w.made))
		}
	})
}

// TestForkWithoutData: a fork of a parent without a database has no manifest.
func TestForkWithoutData(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, w *world) {
		w.status = svc.StatusArchived
		w.cut = func(context.Context, int) error { return notOpen() }
		w.stored = func() map[string]branch.Cut { return nil }
		w.forks(t, "one", svc.Forked{})
		if m, err := w.records.Load(t.Context(), child); m != nil || err != nil {
			t.Errorf("the manifest is %+v, %v", m, err)
		}
	})
}

// TestEarlierFork: a repeated fork returns the first one, even if the parent is
// destroyed or does not answer.
func TestEarlierFork(t *testing.T) {
	t.Parallel()
	for name, cut := range map[string]func(context.Context, int) error{
		"parent destroyed": func(context.Context, int) error {
			return svc.Errorf(svc.Gone, svc.CodeVersionDestroyed, "it was destroyed")
		},
		"parent starting": func(context.Context, int) error { return starting() },
		"parent hanging":  func(ctx context.Context, _ int) error { <-ctx.Done(); return ctx.Err() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, w *world) {
				w.forks(t, "one", made("warm"))
				w.cut = cut
				began := time.Now()
				w.forks(t, "one", made(""))
				if took := time.Since(began); took != 0 {
					t.Errorf("it waited %s for the parent", took)
				}
			})
		})
	}
}

// TestOtherFork: another fork of an existing child is an error.
func TestOtherFork(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, w *world) {
		w.forks(t, "one", made("warm"))
		if _, err := w.Fork(t.Context(), parent, child, "two"); svc.CodeOf(err) != svc.CodeBranchExists {
			t.Errorf("another fork: %v", err)
		}
	})
}

// TestCutRetried: a cut is retried while the runtime starts or stops.
func TestCutRetried(t *testing.T) {
	t.Parallel()
	for _, code := range []string{svc.CodeRuntimeNotOpen, svc.CodeRuntimeOpen, svc.CodeRuntimeStopping, svc.CodeRuntimeUnavailable} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, w *world) {
				w.cut = func(_ context.Context, try int) error {
					if try < 4 {
						return svc.Errorf(svc.Unavailable, code, "not now")
					}
					return nil
				}
				began := time.Now()
				w.forks(t, "one", made("warm"))
				w.expect(t, "cut")
				if took := time.Since(began); took != 300*time.Millisecond {
					t.Errorf("four tries took %s", took)
				}
			})
		})
	}
}

// TestCutFails: Fork returns any other error of the cut.
func TestCutFails(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, w *world) {
		w.cut = func(context.Context, int) error { return svc.Errorf(svc.Internal, svc.CodeDataBroken, "damaged") }
		if _, err := w.Fork(t.Context(), parent, child, "one"); svc.CodeOf(err) != svc.CodeDataBroken {
			t.Errorf("the error is %v", err)
		}
		if _, err := w.Fork(t.Context(), svc.Ref{Project: "shop", Version: "unknown"}, child, "one"); !errors.Is(err, svc.NotFound) {
			t.Errorf("with an unknown parent: %v", err)
		}
		w.expect(t)
	})
}

// TestParentDoesNotStart: after cutWait, the parent's cached data is shipped and cut in
// the object store; the cache stays.
func TestParentDoesNotStart(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, w *world) {
		w.cache(t, parent)
		w.cut = func(context.Context, int) error { return starting() }
		began := time.Now()
		w.forks(t, "one", made(""))
		w.expect(t, "archive v1", "cut stored")
		if took := time.Since(began); took != 20*time.Second {
			t.Errorf("it waited %s for the runtime", took)
		}
		if !w.Cached(parent) {
			t.Error("the parent's cache was dropped")
		}
	})
}

// TestRestartingParent: a parent that crashed and waits for its restart is not waited
// for. If it starts meanwhile, its runtime makes the cut.
func TestRestartingParent(t *testing.T) {
	t.Parallel()
	for name, starts := range map[string]bool{"waits": false, "starts": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, w *world) {
				w.cut = func(_ context.Context, try int) error {
					if try > 1 {
						return nil
					}
					return svc.Errorf(svc.Unavailable, svc.CodeRuntimeRestarting, "it waits")
				}
				want, calls := made(""), []string{"archive v1", "cut stored"}
				if starts {
					want, calls = made("warm"), []string{"archive v1", "cut"}
					w.archive = func(context.Context) error { return svc.Errorf(svc.Conflict, svc.CodeRuntimeOpen, "it runs") }
				}
				began := time.Now()
				w.forks(t, "one", want)
				w.expect(t, calls...)
				if took := time.Since(began); took > 100*time.Millisecond {
					t.Errorf("it waited %s for the runtime", took)
				}
			})
		})
	}
}

// TestParentCannotBeShipped: the error has both causes.
func TestParentCannotBeShipped(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, w *world) {
		away := errors.New("object store down")
		w.cut = func(context.Context, int) error { return starting() }
		w.archive = func(context.Context) error { return away }
		_, err := w.Fork(t.Context(), parent, child, "one")
		if !errors.Is(err, away) || svc.CodeOf(err) != svc.CodeRuntimeUnavailable {
			t.Errorf("the error is %v", err)
		}
		w.expect(t, "archive v1")
	})
}

// TestArchivedParent: the data of a parent without a runtime is archived, if
// necessary, and cut in the object store.
func TestArchivedParent(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, w *world) {
		w.status = svc.StatusArchived
		w.cache(t, parent)
		w.cut = func(context.Context, int) error { return notOpen() }
		began := time.Now()
		w.forks(t, "one", made(""))
		w.expect(t, "archive v1", "cut stored")
		if time.Since(began) != 0 || w.Cached(parent) {
			t.Errorf("after %s it is cached: %v", time.Since(began), w.Cached(parent))
		}
	})
}

// TestParentStops: the parent is archived and its runtime still runs.
func TestParentStops(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, w *world) {
		w.status = svc.StatusArchived
		w.forks(t, "one", made("warm"))
		w.expect(t, "cut")
	})
}

// TestLimit: a fork ends within a minute, or a quarter of a shorter grace.
func TestLimit(t *testing.T) {
	t.Parallel()
	for grace, want := range map[time.Duration]time.Duration{time.Hour: time.Minute, 2 * time.Minute: 30 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, grace)
			w.cut = func(ctx context.Context, _ int) error { <-ctx.Done(); return context.Cause(ctx) }
			began := time.Now()
			_, err := w.Fork(t.Context(), parent, child, "one")
			if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took != want {
				t.Errorf("with a grace of %s it ended after %s: %v", grace, took, err)
			}
		})
	}
}

// TestStoreRefusesFork: an object store that refuses the record of a fork is named, and the next fork
// succeeds when it does not.
func TestStoreRefusesFork(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, w *world) {
		denied := errors.New("StatusCode: 403")
		w.put = func(string) error { return denied }
		_, err := w.Fork(t.Context(), parent, child, "one")
		if e, ok := errors.AsType[*svc.Error](err); !ok || e.Code != svc.CodeBranchNotStored || e.Kind != svc.Unavailable || e.Hint == "" {
			t.Errorf("%v", err)
		}
		w.put = nil
		w.forks(t, "one", made("warm"))
	})
}

// TestForkTXID: the form of the cut in a version's record.
func TestForkTXID(t *testing.T) {
	t.Parallel()
	for want, txids := range map[string]map[string]uint64{
		"7":       {"database-main": 7, "sys": 9},
		"a=7,b=9": {"database-b": 9, "database-a": 7, "sys": 3},
		"3":       {"sys": 3},
		"0":       {"other": 4},
	} {
		inBubble(t, func(t *testing.T, w *world) {
			cuts := map[string]branch.Cut{}
			for name, txid := range txids {
				cuts[name] = cutAt(parent, name, txid)
			}
			w.status = svc.StatusArchived
			w.cut = func(context.Context, int) error { return notOpen() }
			w.stored = func() map[string]branch.Cut { return cuts }
			w.forks(t, "one", svc.Forked{TXID: want, Databases: len(txids)})
		})
	}
}
