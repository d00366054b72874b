package fork_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/server/versions/fork"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestMain(m *testing.M) { svctest.Main(m, nil) }

var parent, child = svc.Ref{Project: "shop", Version: "v1"}, svc.Ref{Project: "shop", Version: "v2"}

// world is a parent with one database at transaction 7, its runtime and the object
// store. The hooks set the results of their methods.
type world struct {
	*fork.Service
	records *branch.Store
	data    string // the directory of cached data
	status  svc.Status

	put     func(key string) error                   // of the object store
	cut     func(ctx context.Context, try int) error // of the parent's runtime
	archive func(ctx context.Context) error          // by a host
	stored  func() map[string]branch.Cut             // the parent's cuts in the object store

	mu    sync.Mutex
	calls []string
	tries int
	made  []time.Duration // durations of forks, from the observer
}

func newWorld(t *testing.T, grace time.Duration) *world {
	t.Helper()
	root := t.TempDir()
	w := &world{
		data: filepath.Join(root, "data"), status: svc.StatusReady,
		cut: func(context.Context, int) error { return nil }, archive: func(context.Context) error { return nil },
		stored: func() map[string]branch.Cut { return at(7) },
	}
	var err error
	if w.records, err = branch.New(branch.Config{Data: &refusing{of: w}, Grace: grace, Logger: slog.New(slog.DiscardHandler)}); err != nil {
		t.Fatal(err)
	}
	w.Service, err = fork.New(fork.Deps{
		Versions: w, Runtimes: runtimes{w}, Records: w.records, Observer: w,
		Dirs: fork.Dirs{Data: w.data, Logs: filepath.Join(root, "logs")},
		CutStored: func(context.Context, svc.Ref) (map[string]branch.Cut, error) {
			w.note("cut stored")
			return w.stored(), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// refusing is a bucket that refuses what the world says.
type refusing struct {
	memstore.Bucket

	of *world
}

func (b *refusing) Put(ctx context.Context, key string, body io.Reader, size int64, cond objstore.Condition) (objstore.Info, error) {
	if b.of.put != nil {
		if err := b.of.put(key); err != nil {
			return objstore.Info{}, err
		}
	}
	return b.Bucket.Put(ctx, key, body, size, cond)
}

// at returns a cut of one database.
func at(txid uint64) map[string]branch.Cut {
	return map[string]branch.Cut{"database-main": cutAt(parent, "database-main", txid)}
}

func cutAt(v svc.Ref, name string, txid uint64) branch.Cut {
	f := branch.File{Prefix: branch.DatabasePrefix(v, name), Min: 1, Max: txid, Size: 10}
	return branch.Cut{Kind: "database", PageSize: 4096, TXID: txid, Files: []branch.File{f}}
}

func (w *world) note(call string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, call)
}

func (w *world) expect(t *testing.T, calls ...string) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Equal(w.calls, calls) {
		t.Errorf("the calls are %q, want %q", w.calls, calls)
	}
}

// cache writes the cached data of a version.
func (w *world) cache(t *testing.T, ref svc.Ref) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(w.data, ref.Project, ref.Version, "db"), 0o700); err != nil {
		t.Fatal(err)
	}
}

func (w *world) Version(_ context.Context, ref svc.Ref) (svc.Version, error) {
	if ref.Version == "unknown" {
		return svc.Version{}, svc.Errorf(svc.NotFound, svc.CodeVersionNotFound, "no such version")
	}
	return svc.Version{Ref: ref, Status: w.status, ParentID: "v0", ForkTXID: "3"}, nil
}

func (w *world) BranchDone(took time.Duration) { w.made = append(w.made, took) }

// runtimes are the worker hosts of a world.
type runtimes struct{ *world }

func (r runtimes) Cut(ctx context.Context, _ svc.Ref) (branch.VersionCut, error) {
	r.mu.Lock()
	r.tries++
	try := r.tries
	r.mu.Unlock()
	if err := r.cut(ctx, try); err != nil {
		return branch.VersionCut{}, err
	}
	r.note("cut")
	return branch.VersionCut{Databases: at(7), Warm: "warm"}, nil
}

func (r runtimes) Archive(ctx context.Context, spec svc.RuntimeSpec, after func() error) error {
	want := svc.LocalSpec{DataDir: filepath.Join(r.data, "shop", spec.Ref.Version), LogDir: filepath.Join(filepath.Dir(r.data), "logs", "shop", spec.Ref.Version)}
	if spec.Local != want || spec.Parent != "v0" {
		return errors.New("another specification than that of the version")
	}
	r.note("archive " + spec.Ref.Version)
	if err := r.archive(ctx); err != nil {
		return err
	}
	return after()
}

// starting returns the error of a runtime that is starting.
func starting() error { return svc.Errorf(svc.Unavailable, svc.CodeRuntimeUnavailable, "it starts") }

func notOpen() error { return svc.Errorf(svc.Conflict, svc.CodeRuntimeNotOpen, "it has no runtime") }
