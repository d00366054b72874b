package fork_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/server/versions/fork"
	"github.com/svcctl/svcctl/internal/svc"
)

// TestForkPast: a fork of the past needs no runtime, and is made once.
func TestForkPast(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, w *world) {
		asked, point := time.Now().Add(-time.Hour), time.Now().Add(-time.Hour-time.Second)
		txid, failure := uint64(5), error(nil)
		cut := func(_ context.Context, v svc.Ref, when time.Time) (map[string]branch.Cut, time.Time, error) {
			if v != parent || !when.Equal(asked) {
				t.Errorf("cut %s at %v", v, when)
			}
			return at(txid), point, failure
		}
		s, err := fork.New(fork.Deps{
			Versions: w, Runtimes: runtimes{w}, Records: w.records, Observer: w, Dirs: fork.Dirs{Data: w.data, Logs: w.data},
			CutStored: func(context.Context, svc.Ref) (map[string]branch.Cut, error) { return nil, nil }, CutPast: cut,
		})
		if err != nil {
			t.Fatal(err)
		}
		failure = errors.New("away")
		if _, err := s.ForkPast(t.Context(), parent, child, "one", asked); !errors.Is(err, failure) {
			t.Errorf("the error of the cut: %v", err)
		}
		failure = nil
		got, err := s.ForkPast(t.Context(), parent, child, "one", asked)
		if err != nil || got != (svc.Forked{TXID: "5", Databases: 1, At: point}) {
			t.Errorf("%+v, %v", got, err)
		}
		txid = 6
		if got, err := s.ForkPast(t.Context(), parent, child, "one", asked); err != nil || got.TXID != "5" {
			t.Errorf("again: %+v, %v", got, err)
		}
		w.expect(t)
	})
}

// TestForkPastWithoutHistory says how to turn it on.
func TestForkPastWithoutHistory(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, w *world) {
		if _, err := w.ForkPast(t.Context(), parent, child, "one", time.Now()); svc.CodeOf(err) != svc.CodeHistoryOff {
			t.Errorf("the error is %v", err)
		}
	})
}
