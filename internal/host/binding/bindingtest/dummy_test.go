package bindingtest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/svc"
)

// dummy is a kind that can do everything that a kind can do, as little of each as
// is possible: a worker stores texts under names.
type dummy struct{}

var (
	_ binding.Kind  = dummy{}
	_ binding.Admin = dummy{}
)

func (dummy) Name() string { return "dummy" }

func (dummy) Check(d bundle.Binding) error {
	if d.Resource == "" {
		return errors.New("the resource is missing")
	}
	return nil
}

func (dummy) Open(ctx context.Context, d bundle.Binding, v volume.Volumes) (binding.Instance, error) {
	db, err := v.Database(ctx, volume.SharedDatabase)
	if err != nil {
		return nil, err
	}
	in := &store{resource: d.Resource, db: db}
	return in, in.script(ctx, `CREATE TABLE IF NOT EXISTS dummy (resource TEXT, name TEXT, value TEXT, PRIMARY KEY (resource, name)) STRICT;
		CREATE TABLE IF NOT EXISTS dummy_done (resource TEXT, name TEXT, PRIMARY KEY (resource, name)) STRICT`)
}

func (dummy) Wire(d bundle.Binding, s binding.Site) binding.Wiring {
	name := "dummy:" + d.Resource
	return binding.Wiring{
		Binding:  workerd.Binding{Name: d.Name, Service: &workerd.ServiceRef{Name: name}},
		Services: []workerd.Service{s.Service(name, d)},
	}
}

func (dummy) Admin(open []binding.Opened) map[string]binding.Operation {
	return map[string]binding.Operation{"GET /dummy/{binding}": binding.One(open, "binding", "dummy", func(s *store, w http.ResponseWriter, r *http.Request) error {
		all, err := s.all(r.Context())
		if err != nil {
			return err
		}
		return binding.WriteJSON(w, all)
	})}
}

// store is an Instance with all that one may have.
type store struct {
	resource string
	db       volume.Database

	events sync.WaitGroup
	inside atomic.Int64
}

var (
	_ binding.Instance = (*store)(nil)
	_ binding.Measured = (*store)(nil)
	_ binding.Stored   = (*store)(nil)
	_ binding.Scrubber = (*store)(nil)
	_ binding.Seeder   = (*store)(nil)
	_ binding.Migrator = (*store)(nil)
	_ binding.Armed    = (*store)(nil)
)

// ServeHTTP stores a body under the name in the path, or gives what is stored.
func (s *store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	name := strings.TrimPrefix(r.URL.Path, "/")
	if err == nil && r.Method == http.MethodPut {
		err = s.script(r.Context(), "INSERT OR REPLACE INTO dummy VALUES (?1, ?2, ?3)", s.resource, name, string(body))
	}
	all, readErr := s.all(r.Context())
	if err := errors.Join(err, readErr); err != nil {
		binding.Fail(w, http.StatusInternalServerError, err.Error())
		return
	}
	if value, ok := all[name]; ok {
		binding.Reply(w, "text/plain", []byte(value))
		return
	}
	binding.Fail(w, http.StatusNotFound, "there is no such name")
}

func (*store) Close() error { return nil }

func (s *store) Stats(ctx context.Context) (map[string]int64, error) {
	all, err := s.all(ctx)
	return map[string]int64{"names": int64(len(all))}, err
}

func (s *store) History() volume.History { return s.db.History() }

func (s *store) Scrub(ctx context.Context, _, id string, sql func() (string, error)) error {
	text, err := sql()
	if err != nil || s.db.History().Parent == "" {
		return err
	}
	_, err = s.once(ctx, "scrub "+id, func(c *raw.Conn) error { return c.Script(text) })
	return err
}

func (s *store) Seed(ctx context.Context, seeds bundle.Seeds, files fs.FS) (imported []svc.SeedFile, err error) {
	for _, f := range seeds.Files {
		text, err := fs.ReadFile(files, f.Path)
		if err != nil {
			return imported, err
		}
		done, err := s.once(ctx, f.Path, func(c *raw.Conn) error {
			return c.Exec("INSERT INTO dummy VALUES (?1, 'seed', ?2)", s.resource, string(text))
		})
		if err != nil {
			return imported, err
		}
		if done {
			imported = append(imported, svc.SeedFile{Path: f.Path})
		}
	}
	return imported, nil
}

func (s *store) Migrate(ctx context.Context, m bundle.Migrations, files fs.FS) (applied []string, err error) {
	for _, f := range m.Files {
		text, err := fs.ReadFile(files, f.Path)
		if err != nil {
			return applied, err
		}
		done, err := s.once(ctx, f.Path, func(c *raw.Conn) error { return c.Script(string(text)) })
		if err != nil {
			return applied, err
		}
		if done {
			applied = append(applied, f.Path)
		}
	}
	return applied, nil
}

// Start sends the worker one event.
func (s *store) Start(ctx context.Context, w binding.Worker) error {
	s.inside.Add(1)
	s.events.Go(func() {
		defer s.inside.Add(-1)
		r, err := w.Dispatch(ctx, svc.Event{Scheduled: &svc.Scheduled{Cron: "of " + s.resource, Time: time.Now()}})
		_ = s.script(context.WithoutCancel(ctx), "INSERT INTO dummy VALUES (?1, 'outcome', ?2)", s.resource, fmt.Sprint(r.Outcome, " ", err))
	})
	return nil
}

func (s *store) Stop()                     { s.events.Wait() }
func (*store) NextWake() (time.Time, bool) { return time.Unix(1, 0), true }
func (s *store) Pending() int              { return int(s.inside.Load()) }
func (*store) Armed()                      {}

func (s *store) script(ctx context.Context, text string, args ...any) error {
	return s.db.Write(ctx, func(c *raw.Conn) error {
		if len(args) == 0 {
			return c.Script(text)
		}
		return c.Exec(text, args...)
	})
}

// once does what was not done before, in one transaction with its mark.
func (s *store) once(ctx context.Context, name string, do func(*raw.Conn) error) (done bool, err error) {
	err = s.db.Write(ctx, func(c *raw.Conn) error {
		return c.InTx("BEGIN IMMEDIATE", func() error {
			known := false
			err := c.Query("SELECT 1 FROM dummy_done WHERE resource = ?1 AND name = ?2", []any{s.resource, name}, func(*raw.Stmt) error { known = true; return nil })
			if err != nil || known {
				return err
			}
			done = true
			return errors.Join(do(c), c.Exec("INSERT INTO dummy_done VALUES (?1, ?2)", s.resource, name))
		})
	})
	return done, err
}

func (s *store) all(ctx context.Context) (map[string]string, error) {
	all := map[string]string{}
	return all, s.db.Read(ctx, func(c *raw.Conn) error {
		return c.Query("SELECT name, value FROM dummy WHERE resource = ?1", []any{s.resource}, func(row *raw.Stmt) error {
			all[row.Text(0)] = row.Text(1)
			return nil
		})
	})
}
