package divergence_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/dataplane"
	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/replica"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/all"
	"github.com/svcctl/svcctl/internal/server/versions/divergence"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestMain(m *testing.M) { svctest.Main(m, nil) }

// world has versions with data in one object store.
type world struct {
	t        testing.TB
	bucket   objstore.Bucket
	branches *branch.Store
	dir      string
	versions map[string]svc.Version
	open     map[string]*dataplane.Volumes
	cutErr   error

	production string
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{t: t, bucket: new(memstore.Bucket), dir: t.TempDir(), versions: map[string]svc.Version{}, open: map[string]*dataplane.Volumes{}}
	var err error
	if w.branches, err = branch.New(branch.Config{Data: w.bucket, Logger: w.logger()}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, v := range w.open {
			if err := v.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	return w
}

func (w *world) logger() *slog.Logger { return slog.New(slog.NewTextHandler(w.t.Output(), nil)) }

func ref(version string) svc.Ref { return svc.Ref{Project: "p", Version: version} }

func (w *world) config(version, parent string) dataplane.Config {
	return dataplane.Config{
		Ref: ref(version), Parent: parent, Dir: filepath.Join(w.dir, version), Bucket: w.bucket, Branches: w.branches,
		Owner: svc.Owner{Node: "h", Session: "s"}, Window: 10 * time.Millisecond, Logger: w.logger(),
	}
}

// version makes a root, or a child of parent at this moment.
func (w *world) version(id, parent string) { w.fork(id, parent, w.Cut) }

// release is version for a child that a release makes.
func (w *world) release(id, parent string) {
	w.fork(id, parent, func(ctx context.Context, r svc.Ref) (branch.VersionCut, error) {
		cut, err := w.Cut(ctx, r)
		if err == nil {
			cut.Databases["own-workflow"], err = w.ownCut(r)
		}
		return cut, err
	})
}

// ownCut cuts the workflows of a version whose data was shipped.
func (w *world) ownCut(r svc.Ref) (branch.Cut, error) {
	c := w.config(r.Version, "")
	rc := replica.Config{Bucket: c.Bucket, Prefix: branch.DatabasePrefix(r, "own-workflow"), Keep: c.Branches.Keep(), Logger: c.Logger}
	if m, err := w.branches.Load(w.t.Context(), r); err != nil {
		return branch.Cut{}, err
	} else if m != nil {
		base := m.Databases["own-workflow"]
		rc.Base = &base
	}
	log, err := replica.Open(w.t.Context(), rc)
	if err != nil {
		return branch.Cut{}, err
	}
	return log.Cut(log.Position())
}

func (w *world) fork(id, parent string, cutOf func(context.Context, svc.Ref) (branch.VersionCut, error)) {
	w.t.Helper()
	v := svc.Version{Ref: ref(id), Status: svc.StatusReady, ParentID: parent}
	if parent != "" {
		v.ForkTXID = "1"
		cut, err := cutOf(w.t.Context(), ref(parent))
		if err == nil {
			_, err = w.branches.Fork(w.t.Context(), branch.Fork{Parent: ref(parent), Child: ref(id), ID: id, At: time.Now(), Cuts: cut.Databases})
		}
		if err != nil {
			w.t.Fatal(err)
		}
	}
	data, err := dataplane.Open(w.t.Context(), w.config(id, parent))
	if err != nil {
		w.t.Fatal(err)
	}
	w.versions[id], w.open[id] = v, data
}

// exec writes to databases of a version: "database: SQL".
func (w *world) exec(version string, statements ...string) {
	w.t.Helper()
	for _, s := range statements {
		name, text, _ := strings.Cut(s, ": ")
		db, err := w.open[version].Database(w.t.Context(), name)
		if err == nil {
			err = db.Write(w.t.Context(), func(c *raw.Conn) error { return c.Script(text) })
		}
		if err != nil {
			w.t.Fatal(err)
		}
	}
}

// close stops a version: its data is in the object store alone.
func (w *world) close(version string) {
	w.t.Helper()
	if err := w.open[version].Close(); err != nil {
		w.t.Fatal(err)
	}
	delete(w.open, version)
}

func (w *world) Version(_ context.Context, r svc.Ref) (svc.Version, error) {
	v, ok := w.versions[r.Version]
	if !ok {
		return v, svc.Errorf(svc.NotFound, svc.CodeVersionNotFound, "no version %s", r)
	}
	return v, nil
}

func (w *world) Project(context.Context, string) (svc.Project, error) {
	return svc.Project{ID: "p", ProdVersionID: w.production}, nil
}

// Cut cuts a version that runs.
func (w *world) Cut(ctx context.Context, r svc.Ref) (cut branch.VersionCut, err error) {
	if w.cutErr != nil {
		return cut, w.cutErr
	}
	if w.open[r.Version] == nil {
		return cut, svc.Errorf(svc.Conflict, svc.CodeRuntimeNotOpen, "%s does not run", r)
	}
	cut.Databases, _, err = w.open[r.Version].Cut(ctx)
	return cut, err
}

func (w *world) cutStored(ctx context.Context, r svc.Ref) (map[string]branch.Cut, error) {
	return dataplane.CutStored(ctx, w.config(r.Version, w.versions[r.Version].ParentID))
}

func (w *world) unmerged(production, target string, change ...func(*divergence.Deps)) svc.Unmerged {
	w.t.Helper()
	return w.service(change...).Unmerged(w.t.Context(), ref(production), ref(target))
}

func (w *world) service(change ...func(*divergence.Deps)) *divergence.Service {
	w.t.Helper()
	deps := divergence.Deps{
		Registry: w, Runtimes: w, Records: w.branches, Bucket: w.bucket, CutStored: w.cutStored, Logger: w.logger(), Time: time.Minute, Tables: binding.Records(all.Kinds()),
		Waiting: func(context.Context, svc.Ref) svc.Waiting { return svc.Waiting{Messages: 3} },
	}
	for _, c := range change {
		c(&deps)
	}
	s, err := divergence.New(deps)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}
