//go:build e2e

package e2e

import (
	"errors"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// shop is a project whose first version the daemon dies of.
const shop = "shop"

// TestFaultsDeploy kills the daemon at steps of a deploy, with another
// version in production. After a restart no client has to repeat anything for the
// deploy to end, and nothing that was there is lost.
func TestFaultsDeploy(t *testing.T) {
	t.Parallel()
	for _, c := range drawn(t, 4, []struct{ point, project string }{ // each passed once by the first version
		{"registry/version/created", book},
		{"registry/job/claimed", shop},
		{"deploy/fetching/started", book},
		{"deploy/bundle/saved", book},
		{"deploy/bundle/extracted", shop},
		{"deploy/fetching/done", shop},
		{"deploy/branching/started", shop},
		{"deploy/branching/done", book},
		{"deploy/preparing/started", book},
		{"deploy/preparing/done", shop},
		{"deploy/deploying/started", book},
		{"deploy/deploying/done", shop},
		{"deploy/ready/started", shop},
		{"deploy/ready/done", shop},       // ready and production, and no route and no pointer yet
		{"registry/production/set", shop}, // the same, before any client knows it
		{"registry/job/finished", book},
	}) {
		t.Run(strings.ReplaceAll(c.point, "/", "-"), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "SVC_FAILPOINT="+c.point+":2")
			w.project(shop)
			w.create(at(c.project, "v2"), guestbookBundle(t))
			w.restart()
			w.check("v1")
			w.write(w.ended(c.project, "v2"), "after") // it is alive, not only there
			w.check("v1")
		})
	}
}

// TestFaultsFailing kills the daemon while it fails a version: it stays failed.
func TestFaultsFailing(t *testing.T) {
	t.Parallel()
	for _, point := range drawn(t, 1, []string{"deploy/failed/started", "deploy/failed/done"}) {
		t.Run(strings.ReplaceAll(point, "/", "-"), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "SVC_FAILPOINT="+point)
			w.want[at(book, "bad")] = api.VersionStatusFailed
			w.create(at(book, "bad"), script(t, `throw new Error("not today")`))
			w.restart()
			w.check("v1")
			w.failed(book, "bad", "deploying", "startup_exception", "not today")
		})
	}
}

// TestFaultsProject: a created project exists, even if its client got no answer.
func TestFaultsProject(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "SVC_FAILPOINT=registry/project/created:2")
	if _, err := w.client().CreateProject(t.Context(), api.CreateProject{ID: shop}); !errors.Is(err, client.ErrUnreachable) {
		t.Fatal(err)
	}
	w.restart()
	if _, err := w.client().Project(t.Context(), shop); err != nil {
		t.Error(err)
	}
	w.project(shop) // the client that heard nothing asks again
	w.check("v1")
}

// TestFaultsTwice kills the daemon twice in one deploy, at different steps, and
// starts it before the children of the dead one are gone.
func TestFaultsTwice(t *testing.T) {
	t.Parallel()
	for _, points := range drawn(t, 2, [][2]string{
		{"deploy/fetching/done", "deploy/deploying/started"},
		{"deploy/preparing/done", "deploy/preparing/done"},
		{"deploy/ready/started", "deploy/ready/done"},
		{"registry/production/set", "registry/job/finished"},
		{"deploy/deploying/done", "registry/job/finished"},
		{"deploy/bundle/extracted", "deploy/bundle/saved"},
	}) {
		t.Run(strings.ReplaceAll(points[0], "/", "-"), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "SVC_FAILPOINT="+points[0]+":2")
			w.project(shop)
			w.create(at(shop, "v2"), guestbookBundle(t))
			w.died()
			w.start("SVC_FAILPOINT=" + points[1])
			w.died()
			if !w.start() {
				t.Fatal("the daemon does not start again")
			}
			w.repeat()
			w.check("v1")
		})
	}
}

// TestFaultsTooManyAttempts: a version that kills the daemon fails after
// three attempts [D25], wherever it is then, and others are deployed.
func TestFaultsTooManyAttempts(t *testing.T) {
	t.Parallel()
	const point = "deploy/preparing/started"
	w := newWorld(t, "SVC_FAILPOINT="+point+":2")
	poison := at(book, "poison")
	w.want[poison] = api.VersionStatusFailed
	w.create(poison, guestbookBundle(t))
	for range 2 {
		w.died()
		w.start("SVC_FAILPOINT=" + point)
	}
	w.died()
	if !w.start("SVC_FAILPOINT=" + point + ":2") { // passed by the next version alone
		t.Fatal("the daemon does not start again")
	}
	w.failed(book, "poison", "preparing", "too_many_attempts")
	w.add(at(book, "v2"))
	w.check("v1")
}
