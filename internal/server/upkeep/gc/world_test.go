package gc_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/server/upkeep/gc"
	"github.com/svcctl/svcctl/internal/server/upkeep/janitor"
	"github.com/svcctl/svcctl/internal/server/versions/assetstore"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// registry is a fake registry.
type registry struct {
	mu       sync.Mutex
	versions map[string][]svc.Brief
	broken   map[string]error // by project
}

func newRegistry() *registry {
	return &registry{versions: map[string][]svc.Brief{}, broken: map[string]error{}}
}

// set sets the status of a version, which it adds if it is new.
func (r *registry) set(project, id string, status svc.Status, forkTXID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := svc.Brief{ID: id, Status: status, ForkTXID: forkTXID, UpdatedAt: time.Now()}
	i := slices.IndexFunc(r.versions[project], func(b svc.Brief) bool { return b.ID == id })
	if i < 0 {
		r.versions[project] = append(r.versions[project], b)
		return
	}
	if forkTXID == "" {
		b.ForkTXID = r.versions[project][i].ForkTXID
	}
	r.versions[project][i] = b
}

func (r *registry) status(project, id string) svc.Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, b := range r.versions[project] {
		if b.ID == id {
			return b.Status
		}
	}
	return ""
}

func (r *registry) breakDown(project string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.broken[project] = err
}

func (r *registry) Project(_ context.Context, id string) (svc.Project, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.versions[id]; !ok {
		return svc.Project{}, svc.Errorf(svc.NotFound, "project_not_found", "there is no project %q", id)
	}
	return svc.Project{ID: id}, nil
}

// ListProjects returns one project per page.
func (r *registry) ListProjects(_ context.Context, p svc.PageRequest) (page svc.Page[svc.Project], err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var ids []string
	for id := range r.versions {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	if int(p.Before) < len(ids) {
		page.Items = []svc.Project{{ID: ids[p.Before]}}
	}
	if int(p.Before)+1 < len(ids) {
		page.Next = p.Before + 1
	}
	return page, nil
}

func (r *registry) Briefs(_ context.Context, project string) ([]svc.Brief, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.versions[project]), r.broken[project]
}

// counted is an Observer.
type counted struct {
	mu             sync.Mutex
	objects        int
	bytes, pinned  int64
	sweeps, audits []time.Time
	problems       int
}

func (c *counted) GCDeleted(objects int, bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.objects, c.bytes = c.objects+objects, c.bytes+bytes
}

func (c *counted) GCSweepDone(pinned int64, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pinned, c.sweeps = pinned, append(c.sweeps, at)
}

func (c *counted) GCAuditDone(problems int, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.problems, c.audits = problems, append(c.audits, at)
}

func (c *counted) seen() (sweeps, audits int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.sweeps), len(c.audits)
}

// JanitorDone implements the Observer of package janitor.
func (*counted) JanitorDone(string, bool) {}

// janitors sweeps and audits like a daemon, until ctx ends.
func janitors(ctx context.Context, g *gc.Service, every time.Duration) {
	j, err := janitor.New(slog.New(slog.DiscardHandler), new(counted), janitor.Sweep(g, every), janitor.Audit(g, every))
	if err != nil {
		panic(err)
	}
	j.Start(ctx)
	<-ctx.Done()
	_ = j.Stop(context.WithoutCancel(ctx)) // it has no errors
}

// world is a bucket with the data of versions, a registry and a Service.
type world struct {
	t        *testing.T
	bucket   objstore.Bucket
	branches *branch.Store
	registry *registry
	counted  *counted
	log      *svctest.Buffer
	gc       *gc.Service
}

func newWorld(t *testing.T, change ...func(*gc.Deps)) *world {
	t.Helper()
	return newWorldOn(t, new(memstore.Bucket), change...)
}

func newWorldOn(t *testing.T, b objstore.Bucket, change ...func(*gc.Deps)) *world {
	t.Helper()
	w := &world{t: t, bucket: b, registry: newRegistry(), counted: new(counted), log: new(svctest.Buffer)}
	logger := slog.New(slog.NewTextHandler(w.log, nil))
	var err error
	if w.branches, err = branch.New(branch.Config{Data: b, Logger: logger}); err != nil {
		t.Fatal(err)
	}
	deps := gc.Deps{Node: "h", Branches: w.branches, Records: w.branches, Data: b, Assets: assetstore.New(assetstore.Config{Bucket: &memstore.Bucket{}}), Registry: w.registry, Logger: logger, Observer: w.counted}
	for _, c := range change {
		c(&deps)
	}
	if w.gc, err = gc.New(deps); err != nil {
		t.Fatal(err)
	}
	return w
}

func ref(version string) svc.Ref { return svc.Ref{Project: "shop", Version: version} }

// version creates a root version and opens it.
func (w *world) version(id string) {
	w.t.Helper()
	w.registry.set("shop", id, svc.StatusReady, "")
	w.open(id)
}

func (w *world) open(id string) {
	w.t.Helper()
	if _, err := w.branches.Acquire(w.t.Context(), ref(id), svc.Owner{Node: "h", Session: "s"}, ""); err != nil {
		w.t.Fatal(err)
	}
}

// write stores log files of 10 bytes for transactions lo to hi and returns them.
func (w *world) write(id string, lo, hi uint64) (files []branch.File) {
	w.t.Helper()
	for n := lo; n <= hi; n++ {
		files = append(files, w.file(id, 0, n, n))
	}
	return files
}

func (w *world) file(id string, level int, lo, hi uint64) branch.File {
	w.t.Helper()
	f := branch.File{Prefix: branch.DatabasePrefix(ref(id), "main"), Level: level, Min: lo, Max: hi, Size: 10}
	if _, err := w.bucket.Put(w.t.Context(), f.Key(), bytes.NewReader(make([]byte, 10)), 10, objstore.Condition{IfAbsent: true}); err != nil {
		w.t.Fatal(err)
	}
	return f
}

// fork creates a child with the given files and opens it.
func (w *world) fork(parent, child string, files ...branch.File) {
	w.t.Helper()
	w.forkOnly(parent, child, files...)
	w.registry.set("shop", child, svc.StatusReady, "1")
	w.open(child)
}

func (w *world) forkOnly(parent, child string, files ...branch.File) {
	w.t.Helper()
	_, err := w.branches.Fork(w.t.Context(), branch.Fork{
		Parent: ref(parent), Child: ref(child), ID: child, At: time.Now(),
		Cuts: map[string]branch.Cut{"main": {Kind: "d1", PageSize: 4096, TXID: files[len(files)-1].Max, Files: files}},
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// destroy destroys a version like package lifecycle.
func (w *world) destroy(id string) {
	w.t.Helper()
	w.registry.set("shop", id, svc.StatusDestroyed, "")
	if err := w.branches.Destroy(w.t.Context(), ref(id)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) markDead(id string, files ...branch.File) {
	w.t.Helper()
	var keys []string
	for _, f := range files {
		keys = append(keys, f.Key())
	}
	if err := w.branches.MarkDead(w.t.Context(), ref(id), keys); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) collect() svc.GCReport { return w.ask(svc.GCRequest{}) }

func (w *world) ask(req svc.GCRequest) svc.GCReport {
	w.t.Helper()
	r, err := w.gc.Collect(w.t.Context(), req)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, p := range r.Projects {
		if p.Err != nil {
			w.t.Fatal(p.Err)
		}
	}
	return r
}

func (w *world) audit() svc.GCAudit {
	w.t.Helper()
	a, err := w.gc.Audit(w.t.Context(), "")
	if err != nil {
		w.t.Fatal(err)
	}
	return a
}

func (w *world) has(f branch.File) bool {
	w.t.Helper()
	_, err := w.bucket.Stat(w.t.Context(), f.Key())
	if err != nil && !errors.Is(err, objstore.ErrNotExist) {
		w.t.Fatal(err)
	}
	return err == nil
}

func (w *world) keys() (keys []string) {
	w.t.Helper()
	infos, err := objstore.ListAll(w.t.Context(), w.bucket, "")
	if err != nil {
		w.t.Fatal(err)
	}
	for _, info := range infos {
		keys = append(keys, info.Key)
	}
	return keys
}
