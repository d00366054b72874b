package registry_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/svcctl/svcctl/internal/lib/saga"
	"github.com/svcctl/svcctl/internal/lib/saga/sagatest"
	"github.com/svcctl/svcctl/internal/server/registry"
	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/svc"
)

// shop returns a registry whose project "shop" has two ready versions.
func shop(t *testing.T) *registry.DB {
	t.Helper()
	db := registrytest.Open(t, "shop")
	registrytest.Add(t, db, "shop", "v1", registrytest.ToReady()...)
	registrytest.Add(t, db, "shop", "v2", registrytest.ToReady()...)
	return db
}

func promotion(id string) svc.Promotion {
	return svc.Promotion{ID: id, Project: "shop", Version: "v2", Previous: "v1", Reason: "because"}
}

func addPromotion(t *testing.T, db *registry.DB, p svc.Promotion) {
	t.Helper()
	if err := db.CreatePromotion(t.Context(), p); err != nil {
		t.Fatal(err)
	}
}

func TestPromotion(t *testing.T) {
	t.Parallel()
	db := shop(t)
	addPromotion(t, db, promotion("op1"))
	got, err := db.Promotion(t.Context(), "shop", "op1")
	want := promotion("op1")
	want.Kind, want.Status = svc.KindPromote, svc.PromotionRunning
	if d := cmp.Diff(want, got, cmpopts.IgnoreFields(svc.Promotion{}, "CreatedAt")); d != "" || err != nil {
		t.Errorf("%v, -want +got:\n%s", err, d)
	}
	if since := time.Since(got.CreatedAt); since < 0 || since > time.Minute {
		t.Errorf("created at %v", got.CreatedAt)
	}
	_, err = db.Promotion(t.Context(), "shop", "op2")
	registrytest.WantError(t, err, svc.NotFound, "promotion_not_found")
	_, err = db.Promotion(t.Context(), "other", "op1")
	registrytest.WantError(t, err, svc.NotFound, "promotion_not_found")

	for range 2 { // a resumed promotion repeats it
		if err := db.FinishPromotion(t.Context(), "op1", svc.PromotionOutcome{Status: svc.PromotionFailed, Error: strings.Repeat("x", 5000)}); err != nil {
			t.Error(err)
		}
	}
	got, err = db.Promotion(t.Context(), "shop", "op1")
	if err != nil || got.Status != svc.PromotionFailed || len(got.Error) != 2048 || got.FinishedAt.IsZero() {
		t.Errorf("%+v, %v", got, err)
	}
	registrytest.WantError(t, db.FinishPromotion(t.Context(), "op1", svc.PromotionOutcome{Status: svc.PromotionDone}), svc.Conflict, "promotion_finished")
	registrytest.WantError(t, db.FinishPromotion(t.Context(), "op2", svc.PromotionOutcome{Status: svc.PromotionDone}), svc.NotFound, "promotion_not_found")
}

func TestCreatePromotionErrors(t *testing.T) {
	t.Parallel()
	db := shop(t)
	registrytest.AddProject(t, db, "other")
	addPromotion(t, db, promotion("op1"))
	registrytest.WantError(t, db.CreatePromotion(t.Context(), promotion("op2")), svc.Conflict, "promote_in_progress")
	for code, p := range map[string]svc.Promotion{
		"project_not_found": {ID: "op3", Project: "none", Version: "v1"},
		"version_not_found": {ID: "op3", Project: "other", Version: "v1"},
	} {
		registrytest.WantError(t, db.CreatePromotion(t.Context(), p), svc.NotFound, code)
	}
	// A finished promotion does not conflict.
	unchanged := promotion("op4")
	unchanged.Status = svc.PromotionUnchanged
	addPromotion(t, db, unchanged)
	if got, err := db.Promotion(t.Context(), "shop", "op4"); err != nil || got.Status != svc.PromotionUnchanged || got.FinishedAt.IsZero() {
		t.Errorf("%+v, %v", got, err)
	}
	if err := db.FinishPromotion(t.Context(), "op1", svc.PromotionOutcome{Status: svc.PromotionDone}); err != nil {
		t.Fatal(err)
	}
	addPromotion(t, db, promotion("op2"))
	if err := db.CreatePromotion(t.Context(), promotion("op1")); err == nil {
		t.Error("an operation id was used twice")
	}
}

func TestListPromotions(t *testing.T) {
	t.Parallel()
	db := shop(t)
	for n := 1; n <= 5; n++ {
		addPromotion(t, db, promotion(fmt.Sprint("op", n)))
		if n == 5 {
			break
		}
		if err := db.FinishPromotion(t.Context(), fmt.Sprint("op", n), svc.PromotionOutcome{Status: svc.PromotionDone}); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for req := (svc.PageRequest{Limit: 2}); ; {
		page, err := db.ListPromotions(t.Context(), "shop", req)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range page.Items {
			got = append(got, p.ID)
		}
		if req.Before = page.Next; page.Next == 0 {
			break
		}
	}
	if d := cmp.Diff([]string{"op5", "op4", "op3", "op2", "op1"}, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	running, err := db.RunningPromotions(t.Context())
	if err != nil || len(running) != 1 || running[0].ID != "op5" {
		t.Errorf("running: %+v, %v", running, err)
	}
	_, err = db.ListPromotions(t.Context(), "none", svc.PageRequest{})
	registrytest.WantError(t, err, svc.NotFound, "project_not_found")
}

// TestPromotionRace: of many concurrent promotions of a project one runs.
func TestPromotionRace(t *testing.T) {
	t.Parallel()
	db := shop(t)
	var won atomic.Int32
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			err := db.CreatePromotion(t.Context(), promotion(fmt.Sprint("op", i)))
			if err == nil {
				won.Add(1)
				return
			}
			registrytest.WantError(t, err, svc.Conflict, "promote_in_progress")
		})
	}
	wg.Wait()
	if won.Load() != 1 {
		t.Errorf("%d run", won.Load())
	}
}

// TestJournal runs the tests of saga.Journal, including crashes, on the registry.
func TestJournal(t *testing.T) {
	t.Parallel()
	db := shop(t)
	var n atomic.Int32
	fresh := func(t *testing.T) saga.Journal {
		t.Helper()
		id := fmt.Sprint("op", n.Add(1))
		ended := promotion(id) // a project can have many of them
		ended.Status = svc.PromotionDone
		addPromotion(t, db, ended)
		return db.Journal(id)
	}
	t.Run("contract", func(t *testing.T) { t.Parallel(); sagatest.Journal(t, fresh) })
	t.Run("crashes", func(t *testing.T) { t.Parallel(); sagatest.Crashes(t, fresh, 1) })
	t.Run("unknown operation", func(t *testing.T) {
		t.Parallel()
		err := db.Journal("none").Record(t.Context(), saga.Entry{Step: "a", Phase: saga.Started})
		registrytest.WantError(t, err, svc.NotFound, "promotion_not_found")
	})
}

// TestStepsOfPromotion: the steps are derived from the journal and hold only the
// public part of errors.
func TestStepsOfPromotion(t *testing.T) {
	t.Parallel()
	secret := errors.New("password=hunter2")
	at := func(s int) time.Time { return time.Date(2000, 1, 1, 0, 0, s, 0, time.UTC) }
	for name, tc := range map[string]struct {
		entries []saga.Entry // one per second
		want    []svc.StepRun
	}{
		"done, after a crash": {
			[]saga.Entry{
				{Step: "validate", Phase: saga.Started},
				{Step: "validate", Phase: saga.Done},
				{Step: "drain", Phase: saga.Started},
				{Step: "drain", Phase: saga.Started},
				{Step: "drain", Phase: saga.Done},
				{Step: "switch", Phase: saga.Started},
			},
			[]svc.StepRun{
				{Step: "validate", Status: svc.StepDone, StartedAt: at(0), EndedAt: at(1)},
				{Step: "drain", Status: svc.StepDone, StartedAt: at(2), EndedAt: at(4)},
				{Step: "switch", Status: svc.StepRunning, StartedAt: at(5)},
			},
		},
		"compensated": {
			[]saga.Entry{
				{Step: "validate", Phase: saga.Started},
				{Step: "validate", Phase: saga.Done},
				{Step: "drain", Phase: saga.Started},
				{Step: "drain", Phase: saga.Failed, Cause: svc.Errorf(svc.Conflict, "stuck", "it is stuck").WithHint("pull").Because(secret)},
				{Step: "drain", Phase: saga.Undone},
				{Step: "validate", Phase: saga.Undone},
			},
			[]svc.StepRun{
				{Step: "validate", Status: svc.StepUndone, StartedAt: at(0), EndedAt: at(5)},
				{Step: "drain", Status: svc.StepFailed, StartedAt: at(2), EndedAt: at(3), Detail: "stuck: it is stuck: pull"},
			},
		},
		"an internal fault": {
			[]saga.Entry{{Step: "drain", Phase: saga.Failed, Cause: secret}},
			[]svc.StepRun{{Step: "drain", Status: svc.StepFailed, StartedAt: at(0), EndedAt: at(0), Detail: "internal: an internal error"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				db := shop(t)
				addPromotion(t, db, promotion("op"))
				j := db.Journal("op")
				for _, e := range tc.entries {
					if err := j.Record(t.Context(), e); err != nil {
						t.Fatal(err)
					}
					<-time.After(time.Second)
				}
				got, err := db.Promotion(t.Context(), "shop", "op")
				if d := cmp.Diff(tc.want, got.Steps); d != "" || err != nil {
					t.Errorf("%v, -want +got:\n%s", err, d)
				}
			})
		})
	}
}
