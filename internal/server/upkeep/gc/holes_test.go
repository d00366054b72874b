package gc_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/server/upkeep/gc"
	"github.com/svcctl/svcctl/internal/svc"
)

// hist stores a history object.
func (w *world) hist(tier string, lo, hi uint64, first bool) branch.Hist {
	w.t.Helper()
	h := branch.Hist{
		Prefix: branch.DatabasePrefix(ref("parent"), "main"), Tier: tier, Min: lo, Max: hi, First: first,
		From: time.Now().Add(-2 * time.Hour).UnixMilli(), To: time.Now().Add(-2 * time.Hour).UnixMilli(),
	}
	w.put(h.Key(), "files")
	return h
}

// TestHistoryHole: the audit finds a history object that is missing between others.
func TestHistoryHole(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		do   func(w *world)
		want int
	}{
		"none": {func(w *world) {
			w.hist(branch.TierMinutes, 1, 4, false)
			w.hist(branch.TierSeconds, 5, 8, false)
			w.hist(branch.TierMinutes, 5, 8, false)
		}, 0},
		"one": {func(w *world) {
			w.hist(branch.TierMinutes, 1, 4, false)
			w.hist(branch.TierMinutes, 6, 8, false)
		}, 1},
		"history was off": {func(w *world) {
			w.hist(branch.TierMinutes, 1, 4, false)
			w.hist(branch.TierMinutes, 6, 8, true)
		}, 0},
	} {
		w := newWorld(t)
		w.version("parent")
		w.write("parent", 1, 9)
		tc.do(w)
		problems := w.audit().Problems
		if len(problems) != tc.want || tc.want > 0 && problems[0].Code != svc.CodeHistoryHole {
			t.Errorf("%s: %+v", name, problems)
		}
	}
}

// TestKeepHistory: history is kept as long as the project says, within what the server says, and while the
// project cannot be asked as long as the server says.
func TestKeepHistory(t *testing.T) {
	t.Parallel()
	const long, short = 24 * time.Hour, time.Hour
	for name, tc := range map[string]struct {
		most, says time.Duration
		err        error
		stays      bool
	}{
		"as the server": {long, long, nil, true},
		"less":          {long, short, nil, false},
		"more":          {short, long, nil, false},
		"off":           {0, long, nil, false},
		"not known":     {long, short, errors.New("away"), true},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, func(d *gc.Deps) {
				d.History = svc.History{Minutes: tc.most}
				d.KeepHistory = func(context.Context, string) (svc.History, error) { return svc.History{Minutes: tc.says}, tc.err }
			})
			w.version("parent")
			w.write("parent", 1, 4)
			h := w.hist(branch.TierMinutes, 1, 4, false)
			time.Sleep(3 * time.Hour)
			w.collect()
			if slices.Contains(w.keys(), h.Key()) != tc.stays {
				t.Errorf("%s: the history stays: %v, want %v", name, !tc.stays, tc.stays)
			}
		})
	}
}
