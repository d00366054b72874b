package retention_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/internal/server/registry"
	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/server/versions/retention"
	"github.com/svcctl/svcctl/internal/svc"
)

// verbs are transitions in a real registry. While err is set, Destroy fails.
type verbs struct {
	db  *registry.DB
	err error
}

func (v *verbs) Archive(ctx context.Context, ref svc.Ref) (svc.Version, error) {
	return v.db.Move(ctx, ref, svc.TriggerArchive, svc.Change{})
}

func (v *verbs) Destroy(ctx context.Context, ref svc.Ref) (svc.Version, error) {
	if v.err != nil {
		return svc.Version{}, v.err
	}
	return v.db.Move(ctx, ref, svc.TriggerDestroy, svc.Change{})
}

func (v *verbs) SetProduction(string, string) {}

// TestDeletedProjects: what a deletion could not destroy is destroyed by the next sweep,
// and until then the project takes no versions and does not begin anew.
func TestDeletedProjects(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t, "shop")
	v := &verbs{db: db, err: errors.New("the store does not answer")}
	s := retention.New(retention.Deps{Registry: db, Verbs: v, Gateway: v, Logger: slog.New(slog.DiscardHandler)})
	pinned := registrytest.Add(t, db, "shop", "v1", registrytest.ToReady()...)
	if _, err := db.SetPinned(t.Context(), pinned.Ref, true); err != nil {
		t.Fatal(err)
	}
	_, results, err := s.DeleteProject(t.Context(), "shop", "")
	if err != nil || len(results) != 1 || results[0].Done {
		t.Fatalf("got %+v, %v", results, err)
	}
	if _, _, err := db.CreateVersion(t.Context(), svc.NewVersion{Project: "shop", ID: "v2"}, svc.CreateOptions{}); svc.CodeOf(err) != svc.CodeProjectNotFound {
		t.Errorf("a new version: %v", err)
	}
	if _, _, err := db.CreateProject(t.Context(), svc.Project{ID: "shop"}); svc.CodeOf(err) != svc.CodeProjectExists {
		t.Errorf("a new project: %v", err)
	}
	if _, err := s.Sweep(t.Context()); err == nil {
		t.Error("a sweep that destroyed nothing has no error")
	}
	v.err = nil
	if _, err := s.Sweep(t.Context()); err != nil || registrytest.Get(t, db, pinned.Ref).Status != svc.StatusDestroyed {
		t.Errorf("after the sweep: %v, %v", registrytest.Get(t, db, pinned.Ref).Status, err)
	}
	if _, created, err := db.CreateProject(t.Context(), svc.Project{ID: "shop"}); err != nil || !created {
		t.Errorf("a new project: %v, %v", created, err)
	}
}

// TestKeep: by age and by number, of each project on its own.
func TestKeep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var list []svc.Version // newest first
		for _, age := range []time.Duration{0, time.Hour, 25 * time.Hour} {
			list = append(list, svc.Version{UpdatedAt: time.Now().Add(-age)})
		}
		for _, tc := range []struct {
			keep svc.Keep
			want int
		}{{svc.Keep{}, 0}, {svc.Keep{Age: 24 * time.Hour}, 1}, {svc.Keep{Count: 1}, 2}, {svc.Keep{Age: 24 * time.Hour, Count: 2}, 1}, {svc.Keep{Age: time.Minute, Count: 3}, 2}} {
			if got := tc.keep.Expired(list, time.Now()); len(got) != tc.want || !slices.EqualFunc(got, list[3-tc.want:], func(a, b svc.Version) bool { return a.UpdatedAt.Equal(b.UpdatedAt) }) {
				t.Errorf("%+v: %d expired, want %d", tc.keep, len(got), tc.want)
			}
		}
	})
}
