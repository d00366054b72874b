package retention_test

import (
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/internal/server/registry"
	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/server/upkeep/janitor"
	"github.com/svcctl/svcctl/internal/server/versions/retention"
	"github.com/svcctl/svcctl/internal/svc"
)

func archived(t *testing.T, db *registry.DB, project string, ids ...string) {
	t.Helper()
	for _, id := range ids {
		registrytest.Add(t, db, project, id, append(registrytest.ToReady(), svc.TriggerArchive)...)
		time.Sleep(time.Minute)
	}
}

// refs lists versions as "project/id", in order.
func refs(versions []svc.Version) (list []string) {
	for _, v := range versions {
		list = append(list, v.String())
	}
	slices.Sort(list)
	return list
}

// TestArchived: archived versions are destroyed by their age and beyond a number per project.
// Production, pinned and ready versions and what another status keeps stay. Due, which is the
// dry run, names what the janitor's next run destroys, and changes nothing.
func TestArchived(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		keep svc.Keep
		want []string
	}{
		"off":           {},
		"count":         {svc.Keep{Count: 2}, []string{"blog/a", "shop/a"}},
		"age":           {svc.Keep{Age: 75 * time.Minute}, []string{"blog/a", "blog/b", "shop/a", "shop/b"}},
		"age and count": {svc.Keep{Age: 75 * time.Minute, Count: 1}, []string{"blog/a", "blog/b", "shop/a", "shop/b"}},
		"more":          {svc.Keep{Age: 24 * time.Hour, Count: 3}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				db := registrytest.Open(t, "shop", "blog")
				for _, project := range []string{"shop", "blog"} {
					archived(t, db, project, "pinned", "a", "b")
					registrytest.Add(t, db, project, "ready", registrytest.ToReady()...)
					registrytest.Add(t, db, project, "failed", svc.TriggerFetch, svc.TriggerFail)
					if _, err := db.SetPinned(t.Context(), svc.Ref{Project: project, Version: "pinned"}, true); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(75 * time.Minute)
				archived(t, db, "shop", "c")
				archived(t, db, "blog", "c")
				v := &verbs{db: db}
				s := retention.New(retention.Deps{Registry: db, Verbs: v, Gateway: v, Logger: slog.New(slog.DiscardHandler), Archived: tc.keep})
				due, err := s.Due(t.Context())
				if got := refs(due); err != nil || !slices.Equal(got, tc.want) {
					t.Errorf("due: %q, %v, want %q", got, err, tc.want)
				}
				if left := destroyed(t, db); len(left) > 0 {
					t.Errorf("the dry run destroyed %q", left)
				}
				if err := janitor.Retention(s).RunOnce(t.Context()); err != nil {
					t.Error(err)
				}
				if got := destroyed(t, db); !slices.Equal(got, tc.want) {
					t.Errorf("the janitor destroyed %q, want %q", got, tc.want)
				}
			})
		})
	}
}

// destroyed lists the destroyed versions.
func destroyed(t *testing.T, db *registry.DB) []string {
	t.Helper()
	versions, err := db.VersionsByStatus(t.Context(), svc.StatusDestroyed)
	if err != nil {
		t.Fatal(err)
	}
	return refs(versions)
}

// TestApplyOlderThan: a filter with a time selects the versions that were created before it,
// for both verbs; a dry run changes nothing.
func TestApplyOlderThan(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := registrytest.Open(t, "shop", "blog")
		for _, id := range []string{"a", "b", "c"} {
			registrytest.Add(t, db, "shop", id, registrytest.ToReady()...)
			registrytest.Add(t, db, "blog", id, registrytest.ToReady()...)
			time.Sleep(time.Hour)
		}
		v := &verbs{db: db}
		s := retention.New(retention.Deps{Registry: db, Verbs: v, Gateway: v, Logger: slog.New(slog.DiscardHandler)})
		apply := func(verb svc.BulkVerb, age time.Duration, dry bool, want ...string) {
			t.Helper()
			results, err := s.Apply(t.Context(), verb, svc.VersionFilter{Project: "shop", Until: time.Now().Add(-age)}, dry)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range results {
				if r.Done == dry || r.Err != nil {
					t.Errorf("%s of %s: done %t, %v", verb, r.Version, r.Done, r.Err)
				}
				got = append(got, r.Version.Version)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s of versions older than %s: %q, want %q", verb, age, got, want)
			}
		}
		apply(svc.BulkArchive, 4*time.Hour, false)
		apply(svc.BulkArchive, 2*time.Hour, true, "b", "a") // exactly two hours is old enough
		apply(svc.BulkArchive, 2*time.Hour, false, "b", "a")
		apply(svc.BulkDestroy, 3*time.Hour, true, "a")
		apply(svc.BulkDestroy, 3*time.Hour, false, "a")
		if got := destroyed(t, db); !slices.Equal(got, []string{"shop/a"}) {
			t.Errorf("destroyed: %q", got)
		}
	})
}
