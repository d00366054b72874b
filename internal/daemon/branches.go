package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/branch"
	"github.com/svcctl/svcctl/internal/control"
	"github.com/svcctl/svcctl/internal/dataplane"
	"github.com/svcctl/svcctl/internal/deploy"
	"github.com/svcctl/svcctl/internal/failpoint"
	"github.com/svcctl/svcctl/internal/lifecycle"
	"github.com/svcctl/svcctl/internal/supervisor"
	"github.com/svcctl/svcctl/internal/svc"
)

// forkLimit bounds a fork: what it names must not be collected meanwhile. It is
// a quarter of a grace that is shorter than usual.
const forkLimit = time.Minute

// How long a fork waits for the parent's runtime, and how often it looks.
const (
	cutWait  = 20 * time.Second
	cutRetry = 100 * time.Millisecond
)

// versionData is the data of versions, as deploy and lifecycle want it.
type versionData struct{ d *Daemon }

var (
	_ deploy.Branches = versionData{}
	_ lifecycle.Vault = versionData{}
)

// Fork implements deploy.Branches.
func (v versionData) Fork(ctx context.Context, parent, child svc.Ref, id string) (deploy.Forked, error) {
	ctx, cancel := context.WithTimeout(ctx, min(forkLimit, v.d.cfg.GCGrace/4))
	defer cancel()
	began := time.Now()
	cut, done, err := v.cutUnlessForked(ctx, parent, child, id)
	if done != nil {
		return forked(done, ""), nil
	}
	if err != nil || len(cut.Stores) == 0 {
		return deploy.Forked{}, err
	}
	failpoint.Hit("branch/fork/cut")
	m, err := v.d.storage.branches.Fork(ctx, branch.Fork{Parent: parent, Child: child, ID: id, At: began, Cuts: cut.Stores})
	if err != nil {
		return deploy.Forked{}, err
	}
	failpoint.Hit("branch/fork/committed")
	v.d.metrics.BranchDone(time.Since(began))
	return forked(m, cut.Warm), nil
}

// cutUnlessForked cuts the parent or, if an earlier try has made the fork, gives
// its manifest, whatever became of the parent. It does not wait to hear that
// there was none: branch.Store.Fork finds that too.
func (v versionData) cutUnlessForked(ctx context.Context, parent, child svc.Ref, id string) (control.Cut, *branch.Manifest, error) {
	type taken struct {
		cut control.Cut
		err error
	}
	earlier, cuts := make(chan *branch.Manifest, 1), make(chan taken, 1)
	go func() { earlier <- v.earlier(ctx, child, id) }()
	go func() {
		cut, err := v.cut(ctx, parent)
		cuts <- taken{cut, err}
	}()
	var t taken
	select {
	case t = <-cuts:
		if t.err == nil {
			return t.cut, nil, nil
		}
		return t.cut, <-earlier, t.err
	case m := <-earlier:
		if m == nil {
			t = <-cuts
		}
		return t.cut, m, t.err
	}
}

// earlier is the manifest of an earlier try of the same fork, or nil.
func (v versionData) earlier(ctx context.Context, child svc.Ref, id string) *branch.Manifest {
	m, err := v.d.storage.branches.Load(ctx, child)
	if err != nil || m == nil || m.ForkID != id {
		return nil // the fork meets the error, or the other's manifest
	}
	return m
}

// cut is one moment of the parent's data. A runtime that is on its way, after a
// restart or a wake, is waited for.
func (v versionData) cut(ctx context.Context, parent svc.Ref) (control.Cut, error) {
	patience, cancel := context.WithTimeout(ctx, cutWait)
	defer cancel()
	for {
		cut, err := v.cutNow(ctx, parent)
		if err == nil || !passing(svc.CodeOf(err)) {
			return cut, err
		}
		select {
		case <-time.After(cutRetry):
		case <-patience.Done():
			return v.cutWithout(ctx, parent, err)
		}
	}
}

// passing tells an error of a runtime that comes or goes.
func passing(code string) bool {
	switch code {
	case "runtime_not_open", "runtime_open", "runtime_stopping", "runtime_unavailable":
		return true
	}
	return false
}

// cutNow asks the parent's runtime or, when the parent is archived, the object
// store.
func (v versionData) cutNow(ctx context.Context, parent svc.Ref) (cut control.Cut, err error) {
	p, err := v.d.registry.Version(ctx, parent)
	if err != nil {
		return cut, err
	}
	cut, err = v.d.supervisor.Cut(ctx, parent) // also of one that is about to be archived
	if p.Status != svc.StatusArchived || svc.CodeOf(err) != "runtime_not_open" {
		return cut, err
	}
	if err := v.Seal(ctx, parent); err != nil {
		return cut, err
	}
	return v.cutStored(ctx, parent)
}

// cutWithout is for a parent whose runtime does not start any more: what it has
// on this machine goes to the object store first.
func (v versionData) cutWithout(ctx context.Context, parent svc.Ref, cause error) (cut control.Cut, err error) {
	p, err := v.d.registry.Version(ctx, parent)
	if err == nil {
		err = v.archive(ctx, p, func() error { return nil })
	}
	if err != nil {
		return cut, errors.Join(cause, err)
	}
	return v.cutStored(ctx, parent)
}

func (v versionData) cutStored(ctx context.Context, parent svc.Ref) (cut control.Cut, err error) {
	s := v.d.storage
	cut.Stores, err = dataplane.CutStored(ctx, dataplane.Config{Ref: parent, Bucket: s.data, Branches: s.branches, Logger: v.d.logger})
	return cut, err
}

func forked(m *branch.Manifest, warm string) deploy.Forked {
	return deploy.Forked{TXID: forkTXID(m.Stores), Stores: len(m.Stores), Warm: warm}
}

// forkTXID is the cut for the version's record: that of its database; with
// several, each with its name; without one, that of its other data.
func forkTXID(stores map[string]branch.StoreBase) string {
	const prefix = "database-"
	var databases []string
	for _, name := range slices.Sorted(maps.Keys(stores)) {
		if strings.HasPrefix(name, prefix) {
			databases = append(databases, name)
		}
	}
	txid := func(name string) string { return strconv.FormatUint(stores[name].TXID, 10) }
	switch len(databases) {
	case 0:
		return cmp.Or(txid("sys"), "0")
	case 1:
		return txid(databases[0])
	}
	for i, name := range databases {
		databases[i] = strings.TrimPrefix(name, prefix) + "=" + txid(name)
	}
	return strings.Join(databases, ",")
}

// Discard implements deploy.Branches.
func (v versionData) Discard(ctx context.Context, ref svc.Ref) error { return v.Destroy(ctx, ref) }

// Seal implements lifecycle.Vault: what is in the cache goes to the object store,
// is proven to be there, and leaves the cache.
func (v versionData) Seal(ctx context.Context, ref svc.Ref) error {
	version, err := v.d.registry.Version(ctx, ref)
	if err != nil {
		return err
	}
	return v.archive(ctx, version, func() error { return v.wipe(ref) })
}

// Unsealed implements lifecycle.Vault: Seal ends with the removal of the cache.
func (v versionData) Unsealed(ref svc.Ref) bool {
	_, err := os.Lstat(v.dir(ref))
	return !errors.Is(err, fs.ErrNotExist)
}

// archive has a host bring what is in the cache to the object store. then runs
// before anything else opens it.
func (v versionData) archive(ctx context.Context, version svc.Version, then func() error) error {
	return v.d.supervisor.Archive(ctx, supervisor.Spec{
		Ref: version.Ref, CreatedAt: version.CreatedAt, DataDir: v.dir(version.Ref), LogDir: v.d.dirs.versionLogs(version.Ref),
		Parent: version.BranchedFrom(),
	}, then)
}

// Destroy implements lifecycle.Vault: nobody may own the data any more, and what
// no child needs goes after the grace.
func (v versionData) Destroy(ctx context.Context, ref svc.Ref) error {
	if err := v.d.storage.branches.Destroy(ctx, ref); err != nil {
		return err
	}
	return v.wipe(ref)
}

func (v versionData) wipe(ref svc.Ref) error {
	if err := os.RemoveAll(v.dir(ref)); err != nil {
		return fmt.Errorf("removing the cached data of %s: %w", ref, err)
	}
	return nil
}

func (v versionData) dir(ref svc.Ref) string {
	return filepath.Join(v.d.dirs.versions(), ref.Project, ref.Version)
}
