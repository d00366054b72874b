package registry_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/svc"
)

const digestA, digestB = "sha256:aa", "sha256:bb"

// TestCreateExisting covers the repeated create by id [D9].
// spec: [C1.3]
func TestCreateExisting(t *testing.T) {
	t.Parallel()
	asked := svc.NewVersion{Project: "shop", ID: "v1", Digest: digestA, Env: map[string]string{"A": "1", "B": "2"}}
	with := func(change func(*svc.NewVersion)) svc.NewVersion {
		n := asked
		change(&n)
		return n
	}
	for name, tc := range map[string]struct {
		first  svc.NewVersion
		moves  []svc.Trigger
		stored string
		again  svc.NewVersion
		code   string
	}{
		"the same":                {first: asked, again: asked},
		"the same, ready":         {first: asked, moves: registrytest.ToReady(), again: asked},
		"another label":           {first: asked, again: with(func(n *svc.NewVersion) { n.GitRef = "main" })},
		"another digest":          {first: asked, again: with(func(n *svc.NewVersion) { n.Digest = digestB }), code: "version_exists"},
		"no digest this time":     {first: asked, again: with(func(n *svc.NewVersion) { n.Digest = "" }), code: "version_exists"},
		"another value":           {first: asked, again: with(func(n *svc.NewVersion) { n.Env = map[string]string{"A": "1", "B": "3"} }), code: "version_exists"},
		"no env":                  {first: asked, again: with(func(n *svc.NewVersion) { n.Env = nil }), code: "version_exists"},
		"asleep this time":        {first: asked, again: with(func(n *svc.NewVersion) { n.Asleep = true }), code: "version_exists"},
		"another parent":          {first: asked, again: with(func(n *svc.NewVersion) { n.ParentID = "v0" }), code: "version_exists"},
		"empty and absent env":    {first: with(func(n *svc.NewVersion) { n.Env = nil }), again: with(func(n *svc.NewVersion) { n.Env = map[string]string{} })},
		"failed":                  {first: asked, moves: []svc.Trigger{svc.TriggerFail}, again: asked, code: "version_exists"},
		"destroyed":               {first: asked, moves: []svc.Trigger{svc.TriggerDestroy}, again: asked, code: "version_exists"},
		"stored digest, not sent": {first: with(func(n *svc.NewVersion) { n.Digest = "" }), stored: digestB, again: with(func(n *svc.NewVersion) { n.Digest = "" })},
		"stored digest, sent":     {first: with(func(n *svc.NewVersion) { n.Digest = "" }), stored: digestB, again: with(func(n *svc.NewVersion) { n.Digest = digestB })},
		"stored digest, other":    {first: with(func(n *svc.NewVersion) { n.Digest = "" }), stored: digestB, again: with(func(n *svc.NewVersion) { n.Digest = digestA }), code: "version_exists"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := registrytest.Open(t, "shop")
			registrytest.Add(t, db, "shop", "v0")
			first, created, err := db.CreateVersion(t.Context(), tc.first, svc.CreateOptions{})
			if err != nil || !created {
				t.Fatal(created, err)
			}
			if len(tc.moves) > 0 {
				first = registrytest.Move(t, db, first.Ref, tc.moves...)
			}
			if tc.stored != "" {
				if err := db.SetArtifact(t.Context(), first.Ref, tc.stored, 1); err != nil {
					t.Fatal(err)
				}
			}
			// A full queue does not reject a repeated create.
			got, created, err := db.CreateVersion(t.Context(), tc.again, svc.CreateOptions{QueueMax: 1})
			registrytest.WantError(t, err, svc.Conflict, tc.code)
			if created || err == nil && got.Ref != first.Ref {
				t.Errorf("created %v, %v", created, got.Ref)
			}
			if depth, err := db.QueueDepth(t.Context()); err != nil || depth != 2 {
				t.Errorf("%d jobs, %v; want those of v0 and v1", depth, err)
			}
		})
	}
}

func TestCreateErrors(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "shop")
	registrytest.AddProject(t, db, "other")
	registrytest.Add(t, db, "other", "v1")
	create := func(n svc.NewVersion) (svc.Version, error) {
		v, _, err := db.CreateVersion(t.Context(), n, svc.CreateOptions{})
		return v, err
	}
	_, err := create(svc.NewVersion{Project: "none"})
	registrytest.WantError(t, err, svc.NotFound, "project_not_found")
	_, err = create(svc.NewVersion{Project: "shop", ParentID: "v1"}) // the other project's
	registrytest.WantError(t, err, svc.Unprocessable, "parent_not_found")
	_, err = create(svc.NewVersion{Project: "shop", ID: "v1"}) // ids are unique per project
	registrytest.WantError(t, err, "", "")
	registrytest.Move(t, db, ref("shop", 1), registrytest.ToReady()...)
	child, err := create(svc.NewVersion{Project: "shop", ParentID: "v1"})
	registrytest.WantError(t, err, "", "")
	if child.ParentID != "v1" {
		t.Errorf("child: %+v", child)
	}
	if depth, err := db.QueueDepth(t.Context()); err != nil || depth != 3 {
		t.Errorf("%d jobs, %v: rejected creates left some", depth, err)
	}
}

// TestGeneratedIDs: creates within one second get the ids of the next free seconds
// [D2].
// spec: [C4.2]
func TestGeneratedIDs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // the clock starts at 2000-01-01 00:00:00 UTC
		db := registrytest.Open(t, "shop")
		registrytest.AddProject(t, db, "other")
		registrytest.Add(t, db, "shop", "v-20000101000001")
		var got []string
		for _, project := range []string{"shop", "shop", "shop", "other"} {
			v, created, err := db.CreateVersion(t.Context(), svc.NewVersion{Project: project}, svc.CreateOptions{})
			if err != nil || !created {
				t.Fatal(created, err)
			}
			got = append(got, v.Version)
		}
		want := []string{"v-20000101000000", "v-20000101000002", "v-20000101000003", "v-20000101000000"}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("-want +got:\n%s", d)
		}
	})
}

// TestIdempotencyKey covers [D9]: 24 hours, bound to project and body.
func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := registrytest.Open(t, "shop")
		registrytest.AddProject(t, db, "other")
		create := func(project, key, body string) (string, bool, error) {
			v, created, err := db.CreateVersion(t.Context(), svc.NewVersion{Project: project},
				svc.CreateOptions{SubmitOptions: svc.SubmitOptions{IdempotencyKey: key, BodyHash: body}, QueueMax: 100})
			return v.Version, created, err
		}
		first, created, err := create("shop", "k", "body")
		if err != nil || !created {
			t.Fatal(created, err)
		}
		for name, tc := range map[string]struct {
			project, key, body string
			created            bool
			code               string
		}{
			"again":           {"shop", "k", "body", false, ""},
			"another body":    {"shop", "k", "other", false, "idempotency_mismatch"},
			"another key":     {"shop", "k2", "body", true, ""},
			"another project": {"other", "k", "other", true, ""},
			"no key":          {"shop", "", "body", true, ""},
		} {
			id, created, err := create(tc.project, tc.key, tc.body)
			if created != tc.created || !created && err == nil && id != first {
				t.Errorf("%s: %s, created %v", name, id, created)
			}
			registrytest.WantError(t, err, svc.Unprocessable, tc.code)
		}
		<-time.After(24*time.Hour - time.Millisecond)
		if id, created, err := create("shop", "k", "body"); id != first || created || err != nil {
			t.Errorf("just before the end: %s, %v, %v", id, created, err)
		}
		<-time.After(time.Millisecond)
		if id, created, err := create("shop", "k", "other"); id == first || !created || err != nil {
			t.Errorf("after a day: %s, %v, %v", id, created, err)
		}
	})
}

// TestIdempotencyRace: parallel requests with one key make one version.
func TestIdempotencyRace(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "shop")
	var fresh atomic.Int32
	ids := make([]string, 16)
	var wg sync.WaitGroup
	for i := range ids {
		wg.Go(func() {
			v, created, err := db.CreateVersion(t.Context(), svc.NewVersion{Project: "shop"}, svc.CreateOptions{SubmitOptions: svc.SubmitOptions{IdempotencyKey: "k", BodyHash: "h"}})
			if err != nil {
				t.Error(err)
			}
			if created {
				fresh.Add(1)
			}
			ids[i] = v.Version
		})
	}
	wg.Wait()
	for _, id := range ids {
		if id != ids[0] {
			t.Errorf("got %s and %s", ids[0], id)
		}
	}
	if fresh.Load() != 1 {
		t.Errorf("%d versions were created", fresh.Load())
	}
}

// TestQueueFull: of 32 parallel creates 10 fit, each with its own id.
// spec: [C7.12] [C13.8]
func TestQueueFull(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "shop")
	const creates, room = 32, 10
	var accepted atomic.Int32
	var wg sync.WaitGroup
	for range creates {
		wg.Go(func() {
			_, created, err := db.CreateVersion(t.Context(), svc.NewVersion{Project: "shop"}, svc.CreateOptions{QueueMax: room})
			if created {
				accepted.Add(1)
				return
			}
			registrytest.WantError(t, err, svc.Unavailable, "queue_full")
			if e := svc.AsError(err); e.Queue == nil || *e.Queue != (svc.QueueState{Pending: room, Max: room}) || e.RetryAfter <= 0 {
				t.Errorf("%+v", e)
			}
		})
	}
	wg.Wait()
	depth, err := db.QueueDepth(t.Context())
	counts, err2 := db.Counts(t.Context())
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	if accepted.Load() != room || depth != room || counts[svc.StatusPending] != room {
		t.Errorf("accepted %d, %d jobs, %d pending; want %d", accepted.Load(), depth, counts[svc.StatusPending], room)
	}
	// After one finished job one create succeeds.
	j, _, err := db.ClaimJob(t.Context(), "w", time.Minute)
	if err == nil {
		err = db.FinishJob(t.Context(), j.ID, "w")
	}
	if err != nil {
		t.Fatal(err)
	}
	for i, code := range []string{"", "queue_full"} {
		_, _, err := db.CreateVersion(t.Context(), svc.NewVersion{Project: "shop", ID: fmt.Sprint("late", i)}, svc.CreateOptions{QueueMax: room})
		registrytest.WantError(t, err, svc.Unavailable, code)
	}
}
