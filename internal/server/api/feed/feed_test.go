package feed_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/server/api/feed"
	"github.com/svcctl/svcctl/internal/server/registry"
	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/svc"
)

// open starts a feed over a registry and stops it with the test, or earlier.
func open(t *testing.T, db *registry.DB) (s *feed.Service, stop func()) {
	t.Helper()
	s = feed.New(db, slog.New(slog.DiscardHandler))
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		if err := s.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return s, stop
}

func add(t *testing.T, db *registry.DB, project string, n int) {
	t.Helper()
	events := make([]svc.FeedEvent, n)
	for i := range events {
		events[i] = svc.FeedEvent{Type: "test.one", Project: project, Time: time.Now()}
	}
	if err := db.AddEvents(t.Context(), events); err != nil {
		t.Error(err)
	}
}

var errEnough = errors.New("enough")

// TestEachEventOnceOverRestarts: clients that continue with their cursors after two
// restarts have each event once and in order, and those that read slowly as well.
func TestEachEventOnceOverRestarts(t *testing.T) {
	t.Parallel()
	const each, clients = 6000, 5 // more than the window has
	path := filepath.Join(t.TempDir(), "registry.db")
	cursors := make([]string, clients)
	for i := range cursors {
		cursors[i] = "0"
	}
	for life := int64(1); life <= 3; life++ {
		db, err := registry.Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		s, stop := open(t, db)
		var all sync.WaitGroup
		for i := range clients {
			all.Go(func() {
				at, _ := strconv.ParseInt(cursors[i], 10, 64)
				err := s.Follow(t.Context(), svc.FeedQuery{Cursor: cursors[i]}, time.Hour, func(page svc.FeedPage) error {
					for _, e := range page.Events {
						if at++; e.ID != at {
							t.Errorf("client %d got %d after %d", i, e.ID, at-1)
						}
					}
					if cursors[i] = page.Cursor; at >= life*each {
						return errEnough
					}
					return nil
				})
				if !errors.Is(err, errEnough) {
					t.Errorf("client %d: %v", i, err)
				}
			})
		}
		for range each / 1000 {
			add(t, db, "shop", 1000)
		}
		all.Wait()
		stop()
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFollowEnds: with the service, and when events are no longer kept.
func TestFollowEnds(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t)
	s, stop := open(t, db)
	began, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		once := sync.OnceFunc(func() { close(began) })
		ended <- s.Follow(t.Context(), svc.FeedQuery{}, time.Hour, func(svc.FeedPage) error { once(); return nil })
	}()
	<-began
	add(t, db, "shop", 10000)
	if err := db.TrimEvents(t.Context(), time.Now().Add(time.Hour), 5000); err != nil {
		t.Fatal(err)
	}
	_, err := s.Read(t.Context(), svc.FeedQuery{Cursor: "1"})
	registrytest.WantError(t, err, svc.Gone, svc.CodeCursorExpired)
	_, err = s.Read(t.Context(), svc.FeedQuery{Cursor: "-1"})
	registrytest.WantError(t, err, svc.BadRequest, svc.CodeInvalidCursor)
	stop()
	if err := <-ended; err != nil && !errors.Is(err, svc.Gone) {
		t.Error(err)
	}
}

// TestRead: filters, the tail, and a page that waits.
func TestRead(t *testing.T) {
	t.Parallel()
	db := registrytest.Open(t)
	s, _ := open(t, db)
	add(t, db, "a", 3)
	add(t, db, "b", 1000)
	add(t, db, "a", 1)
	read := func(q svc.FeedQuery) svc.FeedPage {
		t.Helper()
		page, err := s.Read(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		return page
	}
	if p := read(svc.FeedQuery{}); len(p.Events) != 0 || p.Cursor != "1004" {
		t.Errorf("now: %+v", p)
	}
	if p := read(svc.FeedQuery{Tail: 3, Project: "a"}); len(p.Events) != 3 || p.Events[0].ID != 2 || p.Events[2].ID != 1004 {
		t.Errorf("the tail: %+v", p)
	}
	if p := read(svc.FeedQuery{Cursor: "0", Project: "a", Limit: 3}); len(p.Events) != 3 || p.Cursor != "3" {
		t.Errorf("a page: %+v", p)
	}
	if p := read(svc.FeedQuery{Cursor: "3", Types: []string{"version"}}); len(p.Events) != 0 || p.Cursor != "1004" {
		t.Errorf("of another type: %+v", p)
	}
	later := make(chan svc.FeedPage)
	go func() {
		p, err := s.Read(t.Context(), svc.FeedQuery{Cursor: "1004", Types: []string{"runtime", "test.one"}, Wait: time.Minute})
		if err != nil {
			t.Error(err)
		}
		later <- p
	}()
	s.Publish(svc.FeedEvent{Type: svc.FeedServerStarted})
	s.Publish(svc.FeedEvent{Type: svc.FeedRuntimeUp, Project: "a", Version: "v"})
	if p := <-later; len(p.Events) != 1 || p.Events[0].Type != svc.FeedRuntimeUp || p.Cursor != "1006" {
		t.Errorf("waited: %+v", p)
	}
}
