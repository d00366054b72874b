package registry_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/svc"
)

// TestEveryMove applies every trigger to every status: the registry allows exactly
// the transitions of svc.Edges.
// spec: [C7.8] [C9.11]
func TestEveryMove(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "shop")
	for _, from := range svc.Statuses() {
		for _, edge := range svc.Edges() {
			id := strings.ReplaceAll(string(from)+"-"+string(edge.Trigger), "_", "-")
			r := registrytest.Add(t, db, "shop", id).Ref
			if path := pathTo(t, from); len(path) > 0 {
				registrytest.Move(t, db, r, path...)
			}
			want, wantErr := from.After(edge.Trigger)
			got, err := db.Move(t.Context(), r, edge.Trigger, svc.Change{})
			switch {
			case wantErr == nil && (err != nil || got.Status != want):
				t.Errorf("%s %s: %s, %v; want %s", from, edge.Trigger, got.Status, err, want)
			case wantErr != nil && from == svc.StatusDestroyed:
				registrytest.WantError(t, err, svc.Gone, "version_destroyed")
			case wantErr != nil:
				registrytest.WantError(t, err, svc.Conflict, "invalid_transition")
			}
			if read, err := db.Version(t.Context(), r); err != nil || read.Status != want {
				t.Errorf("%s %s: reads %s, %v; want %s", from, edge.Trigger, read.Status, err, want)
			}
		}
	}
}

// pathTo returns the shortest list of triggers from pending to a status.
func pathTo(t *testing.T, to svc.Status) []svc.Trigger {
	t.Helper()
	paths := map[svc.Status][]svc.Trigger{svc.StatusPending: {}}
	for queue := []svc.Status{svc.StatusPending}; len(queue) > 0; queue = queue[1:] {
		for _, e := range svc.Edges() {
			next, err := queue[0].After(e.Trigger)
			if _, seen := paths[next]; err != nil || seen {
				continue
			}
			paths[next] = append(append([]svc.Trigger{}, paths[queue[0]]...), e.Trigger)
			queue = append(queue, next)
		}
	}
	path, ok := paths[to]
	if !ok {
		t.Fatalf("no path to %s", to)
	}
	return path
}

func TestMoveNotFound(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "shop")
	_, err := db.Move(t.Context(), ref("shop", 1), svc.TriggerFetch, svc.Change{})
	registrytest.WantError(t, err, svc.NotFound, "version_not_found")
	_, err = db.Move(t.Context(), ref("none", 1), svc.TriggerFetch, svc.Change{})
	registrytest.WantError(t, err, svc.NotFound, "project_not_found")
}

// TestTimeline checks the timeline of a version with one transition per second.
// spec: [C4.11]
func TestTimeline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := registrytest.Open(t, "shop")
		begin := time.Now().UTC()
		at := func(s int) time.Time { return begin.Add(time.Duration(s) * time.Second) }
		r := registrytest.Add(t, db, "shop", "v1").Ref
		step := func(tr svc.Trigger, c svc.Change) (v svc.Version) {
			<-time.After(time.Second)
			v, err := db.Move(t.Context(), r, tr, c)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		var v svc.Version
		for _, tr := range registrytest.ToReady() {
			v = step(tr, svc.Change{Detail: "before " + string(tr)})
		}
		if !v.ReadyAt.Equal(at(5)) || !v.WokenAt.IsZero() || !v.UpdatedAt.Equal(at(5)) || !v.CreatedAt.Equal(at(0)) {
			t.Errorf("ready at %v, woken at %v, updated at %v", v.ReadyAt, v.WokenAt, v.UpdatedAt)
		}
		for _, tr := range []svc.Trigger{svc.TriggerDrain, svc.TriggerUndrain, svc.TriggerArchive, svc.TriggerWake} {
			v = step(tr, svc.Change{})
		}
		if got := v.Timeline[len(v.Timeline)-1]; got.Status != svc.StepRunning || !got.EndedAt.IsZero() {
			t.Errorf("while waking: %+v", got)
		}
		step(svc.TriggerWakeFail, svc.Change{Error: "it throws"})
		step(svc.TriggerWake, svc.Change{})
		v = step(svc.TriggerActivate, svc.Change{})
		if !v.ReadyAt.Equal(at(5)) || !v.WokenAt.Equal(at(12)) || v.Error != "" { // [D17]
			t.Errorf("ready at %v, woken at %v, error %q", v.ReadyAt, v.WokenAt, v.Error)
		}
		want := []svc.StepRun{
			{Step: "fetching", Status: svc.StepDone, StartedAt: at(1), EndedAt: at(2), Detail: "before branch"},
			{Step: "branching", Status: svc.StepDone, StartedAt: at(2), EndedAt: at(3), Detail: "before prepare"},
			{Step: "preparing", Status: svc.StepDone, StartedAt: at(3), EndedAt: at(4), Detail: "before deploy"},
			{Step: "deploying", Status: svc.StepDone, StartedAt: at(4), EndedAt: at(5), Detail: "before activate"},
			{Step: "deploying", Status: svc.StepFailed, StartedAt: at(9), EndedAt: at(10), Detail: "it throws"},
			{Step: "deploying", Status: svc.StepDone, StartedAt: at(11), EndedAt: at(12)},
		}
		if d := cmp.Diff(want, v.Timeline); d != "" {
			t.Errorf("-want +got:\n%s", d)
		}
	})
}

// spec: [C4.12]
func TestFail(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "shop")
	long := strings.Repeat("é", 2000) // 4000 bytes
	for name, tc := range map[string]struct {
		c             svc.Change
		error, detail string
	}{
		"error":  {svc.Change{Error: "fetching: artifact_missing: none"}, "fetching: artifact_missing: none", "fetching: artifact_missing: none"},
		"both":   {svc.Change{Error: "e", Detail: "d", ErrorOutput: "log: hi"}, "e", "d"},
		"long":   {svc.Change{Error: long}, long[:2044] + "…", long[:2044] + "…"},
		"at cap": {svc.Change{Error: strings.Repeat("x", 2048)}, strings.Repeat("x", 2048), strings.Repeat("x", 2048)},
	} {
		r := registrytest.Add(t, db, "shop", strings.ReplaceAll(name, " ", "-")).Ref
		registrytest.Move(t, db, r, svc.TriggerFetch)
		v, err := db.Move(t.Context(), r, svc.TriggerFail, tc.c)
		if err != nil {
			t.Fatal(err)
		}
		if v.Status != svc.StatusFailed || v.Error != tc.error || len(v.Error) > 2048 || !utf8.ValidString(v.Error) {
			t.Errorf("%s: %s, %d bytes: %q", name, v.Status, len(v.Error), v.Error)
		}
		if v.ErrorOutput != tc.c.ErrorOutput {
			t.Errorf("%s: output %q", name, v.ErrorOutput)
		}
		if got := v.Timeline[0]; got.Status != svc.StepFailed || got.Detail != tc.detail || got.EndedAt.IsZero() {
			t.Errorf("%s: %+v", name, got)
		}
		if !v.ReadyAt.IsZero() {
			t.Errorf("%s: ready at %v", name, v.ReadyAt)
		}
	}
}

// TestProductionStays: production can be neither archived nor destroyed [D18][D22],
// even while draining.
func TestProductionStays(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "shop")
	r := registrytest.Add(t, db, "shop", "v1", registrytest.ToReady()...).Ref
	if err := db.SetProduction(t.Context(), "shop", "", "v1"); err != nil {
		t.Fatal(err)
	}
	for _, tr := range []svc.Trigger{svc.TriggerArchive, svc.TriggerDestroy} {
		_, err := db.Move(t.Context(), r, tr, svc.Change{})
		registrytest.WantError(t, err, svc.Conflict, "version_is_production")
	}
	registrytest.Move(t, db, r, svc.TriggerDrain)
	_, err := db.Move(t.Context(), r, svc.TriggerDestroy, svc.Change{})
	registrytest.WantError(t, err, svc.Conflict, "version_is_production")
	if v := registrytest.Move(t, db, r, svc.TriggerUndrain); !v.Production || v.Status != svc.StatusReady {
		t.Errorf("%+v", v)
	}
	if err := db.SetProduction(t.Context(), "shop", "v1", ""); err != nil {
		t.Fatal(err)
	}
	registrytest.Move(t, db, r, svc.TriggerArchive, svc.TriggerDestroy)
}

// TestMoveRace: of many parallel moves exactly one wins, and updated_at grows with
// each.
func TestMoveRace(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "shop")
	v := registrytest.Add(t, db, "shop", "v1")
	for _, tr := range registrytest.ToReady() {
		before := v
		var won atomic.Int32
		var wg sync.WaitGroup
		for range 16 {
			wg.Go(func() {
				_, err := db.Move(t.Context(), v.Ref, tr, svc.Change{})
				if err == nil {
					won.Add(1)
				} else if svc.CodeOf(err) != "invalid_transition" {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		var err error
		if v, err = db.Version(t.Context(), before.Ref); err != nil {
			t.Fatal(err)
		}
		if won.Load() != 1 || !v.UpdatedAt.After(before.UpdatedAt) {
			t.Errorf("%s: %d won, updated_at from %v to %v", tr, won.Load(), before.UpdatedAt, v.UpdatedAt)
		}
	}
	if len(v.Timeline) != 4 {
		t.Errorf("timeline: %+v", v.Timeline)
	}
}

// TestMoveCanceled: a call with an ended context changes nothing.
func TestMoveCanceled(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "shop")
	r := registrytest.Add(t, db, "shop", "v1").Ref
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := db.Move(ctx, r, svc.TriggerFetch, svc.Change{}); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
	if v, err := db.Version(t.Context(), r); err != nil || v.Status != svc.StatusPending || len(v.Timeline) != 0 {
		t.Errorf("%+v, %v", v, err)
	}
}

// TestFirstReadyIsProduction: the first version becomes ready and production in one
// transaction.
// spec: [C3.5]
func TestFirstReadyIsProduction(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "shop")
	for _, id := range []string{"v1", "v2"} {
		v := registrytest.Add(t, db, "shop", id)
		registrytest.Move(t, db, v.Ref, registrytest.ToReady()[:len(registrytest.ToReady())-1]...)
		v, err := db.Move(t.Context(), v.Ref, svc.TriggerActivate, svc.Change{FirstProduction: true})
		if err != nil || v.Production != (id == "v1") {
			t.Errorf("%s: production %v, %v", id, v.Production, err)
		}
	}
	if p, err := db.Project(t.Context(), "shop"); err != nil || p.ProdVersionID != "v1" {
		t.Errorf("production is %q, %v", p.ProdVersionID, err)
	}
}
