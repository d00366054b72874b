package deploy_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/server/versions/deploy"
	"github.com/svcctl/svcctl/internal/server/versions/deployqueue"
	"github.com/svcctl/svcctl/internal/svc"
)

// branches is a fake of the data of versions, one number per version. It outlives
// a daemon.
type branches struct {
	dir  string
	hook func(ctx context.Context, point string) error // before and after a fork; nil: none
	full func(ctx context.Context) error               // result of Destroy; nil: it succeeds

	mu        sync.Mutex
	written   map[svc.Ref]int // data of each version; no entry: no database
	forks     map[string]svc.Forked
	destroyed []string
}

func newBranches(dir string) *branches {
	return &branches{dir: dir, written: map[svc.Ref]int{}, forks: map[string]svc.Forked{}}
}

func (b *branches) ForkAt(ctx context.Context, parent, child svc.Ref, id string, _ branch.VersionCut) (svc.Forked, error) {
	return b.Fork(ctx, parent, child, id)
}

func (b *branches) ForkPast(ctx context.Context, parent, child svc.Ref, id string, t time.Time) (svc.Forked, error) {
	made, err := b.Fork(ctx, parent, child, id)
	made.At = t.Add(-40 * time.Millisecond)
	return made, err
}

func (b *branches) Fork(ctx context.Context, parent, child svc.Ref, id string) (svc.Forked, error) {
	if err := b.at(ctx, "before"); err != nil {
		return svc.Forked{}, err
	}
	made := b.fork(parent, child, id)
	return made, b.at(ctx, "after")
}

func (b *branches) fork(parent, child svc.Ref, id string) svc.Forked {
	b.mu.Lock()
	defer b.mu.Unlock()
	if made, ok := b.forks[id]; ok {
		return made
	}
	made := svc.Forked{}
	if cut, ok := b.written[parent]; ok {
		made = svc.Forked{TXID: fmt.Sprint(cut), Databases: 2, Warm: "from " + parent.Version}
		b.written[child] = cut
	}
	b.forks[id] = made
	return made
}

func (b *branches) at(ctx context.Context, point string) error {
	if b.hook == nil {
		return ctx.Err()
	}
	return b.hook(ctx, point)
}

func (b *branches) Destroy(ctx context.Context, ref svc.Ref) error {
	if b.full != nil {
		return b.full(ctx)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.written, ref)
	b.destroyed = append(b.destroyed, ref.Version)
	return os.RemoveAll(filepath.Join(b.dir, ref.Project, ref.Version))
}

// write sets the data of a version to n.
func (b *branches) write(version string, n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.written[ref(version)] = n
}

func (b *branches) read(version string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.written[ref(version)]
}

// pullRequests sets how pull requests may fork production.
func pullRequests(mode svc.ProdFork, sql string) func(*deploy.Deps) {
	return func(d *deploy.Deps) {
		d.Forks, d.ScrubSQL = svc.ForkPolicy{PRRefs: []string{"pull/*"}, Production: mode}, sql
	}
}

// family returns a world with a production v1 and a version staging, whose data is 17.
func family(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	deployed(t, w, "v1", "staging")
	w.branches.write("staging", 17)
	return w
}

// child submits a version of staging, with its bundle.
func (d *daemon) child(t *testing.T, n svc.NewVersion) svc.Ref {
	t.Helper()
	n.ID = "child"
	if n.ParentID == "" {
		n.ParentID = "staging"
	}
	d.upload(t, ref("child"), hello(t))
	return d.submit(t, n)
}

// branching returns the step's row in the timeline.
func branching(t *testing.T, v svc.Version) svc.StepRun {
	t.Helper()
	for _, s := range v.Timeline {
		if s.Step == "branching" {
			return s
		}
	}
	t.Fatalf("%s has no step branching: %+v", v.Version, v.Timeline)
	return svc.StepRun{}
}

// spec: [C2.8] [C4.3] [C7.3]
func TestBranch(t *testing.T) {
	t.Parallel()
	w := family(t)
	d := w.start(t, nil)
	c := d.child(t, svc.NewVersion{})
	v := d.run(t, c)
	if v.Status != svc.StatusReady || v.ForkTXID != "17" || v.ParentID != "staging" || v.ScrubID != "" {
		t.Errorf("the record is %+v", v)
	}
	if got := branching(t, v); got.Status != svc.StepDone || got.Detail != "forked 2 databases of staging at 17" {
		t.Errorf("the step is %+v", got)
	}
	if spec := d.runtimes.open[c]; spec.Parent != "staging" || spec.Local.Warm != "from staging" || spec.Scrub != (svc.Scrub{}) {
		t.Errorf("the runtime's spec is %+v", spec)
	}
	w.branches.write("staging", 18)
	d.run(t, c) // the job once more
	if w.branches.read("child") != 17 {
		t.Error("it was forked again")
	}
	next := w.start(t, nil)
	if err := next.Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	if spec := next.runtimes.open[c]; spec.Parent != "staging" || spec.Local.Warm != "" {
		t.Errorf("after a restart the spec is %+v", spec)
	}
}

func TestBranchWithoutData(t *testing.T) {
	t.Parallel()
	w := family(t)
	d := w.start(t, nil)
	v := d.run(t, d.child(t, svc.NewVersion{ParentID: "v1"}))
	if v.Status != svc.StatusReady || v.ForkTXID != "" || branching(t, v).Detail != "v1 has no data to fork" {
		t.Errorf("%s %q, forked at %q: %+v", v.Status, v.Error, v.ForkTXID, branching(t, v))
	}
}

// TestBranchResumes: after a crash the resumed deploy gets the fork of the first
// attempt, even if the parent has new writes.
func TestBranchResumes(t *testing.T) {
	t.Parallel()
	for point, cut := range map[string]int{"before": 18, "after": 17} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			w := family(t)
			ctx, cancel := context.WithCancel(t.Context())
			w.branches.hook = func(ctx context.Context, p string) error {
				if p == point {
					cancel()
				}
				return ctx.Err()
			}
			d := w.start(t, nil)
			c := d.child(t, svc.NewVersion{})
			err := d.Run(ctx, deployqueue.Job{Ref: c, Attempt: 1})
			if v := registrytest.Get(t, w.DB, c); !errors.Is(err, context.Canceled) || v.Status != svc.StatusBranching || v.ForkTXID != "" {
				t.Fatalf("%v; %s %q", err, v.Status, v.ForkTXID)
			}
			w.branches.write("staging", 18)
			w.branches.hook = nil
			next := w.start(t, nil)
			if v := next.run(t, c); v.Status != svc.StatusReady || v.ForkTXID != fmt.Sprint(cut) || w.branches.read("child") != cut {
				t.Errorf("%s %q, forked at %q", v.Status, v.Error, v.ForkTXID)
			}
		})
	}
}

// TestBranchParentDestroyed: a version with a recorded fork does not need its
// parent [D22].
func TestBranchParentDestroyed(t *testing.T) {
	t.Parallel()
	w := family(t)
	d := w.start(t, nil)
	c := d.child(t, svc.NewVersion{})
	registrytest.Move(t, w.DB, c, svc.TriggerFetch, svc.TriggerBranch)
	w.branches.fork(ref("staging"), c, fmt.Sprintf("shop/child@%d", registrytest.Get(t, w.DB, c).CreatedAt.UnixNano()))
	if err := w.SetForkTXID(t.Context(), c, "17"); err != nil {
		t.Fatal(err)
	}
	registrytest.Move(t, w.DB, ref("staging"), svc.TriggerDestroy)
	if v := w.start(t, nil).run(t, c); v.Status != svc.StatusReady || v.ForkTXID != "17" {
		t.Errorf("%s %q", v.Status, v.Error)
	}
}

// TestParentChanges: the parent changes between the create call and the fork.
// spec: [C2.21] [C7.14]
func TestParentChanges(t *testing.T) {
	t.Parallel()
	promote := func(t *testing.T, w *world) {
		t.Helper()
		if err := w.SetProduction(t.Context(), "shop", "v1", "staging"); err != nil {
			t.Fatal(err)
		}
	}
	destroy := func(t *testing.T, w *world) {
		t.Helper()
		registrytest.Move(t, w.DB, ref("staging"), svc.TriggerDestroy)
	}
	archive := func(t *testing.T, w *world) {
		t.Helper()
		registrytest.Move(t, w.DB, ref("staging"), svc.TriggerArchive)
	}
	for name, tc := range map[string]struct {
		mode   svc.ProdFork
		change func(*testing.T, *world)
		during bool // it changes during the fork, which fails
		want   string
		scrub  bool
	}{
		"destroyed":           {change: destroy, want: "branching: parent_destroyed: the parent staging was destroyed"},
		"destroyed meanwhile": {change: destroy, during: true, want: "branching: parent_destroyed: the parent staging was destroyed"},
		"archived":            {change: archive},
		"archived meanwhile":  {change: archive, during: true, want: "branching: version_archived: it stops"},
		"promoted":            {change: promote, want: "branching: fork_of_production: the parent staging is live production"},
		"promoted, scrub":     {mode: svc.ProdForkScrub, change: promote, scrub: true},
		"promoted, allow":     {mode: svc.ProdForkAllow, change: promote},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := family(t)
			d := w.start(t, pullRequests(tc.mode, "update t set a = 1"))
			c := d.child(t, svc.NewVersion{GitRef: "pull/1"})
			if tc.during {
				w.branches.hook = func(context.Context, string) error {
					tc.change(t, w)
					return svc.Errorf(svc.Conflict, "version_archived", "it stops")
				}
			} else {
				tc.change(t, w)
			}
			v := d.run(t, c)
			if tc.want == "" && (v.Status != svc.StatusReady || (v.ScrubID == "child") != tc.scrub || v.ForkTXID != "17") {
				t.Errorf("%s %q, scrub %q", v.Status, v.Error, v.ScrubID)
			}
			if tc.want != "" && (v.Status != svc.StatusFailed || !strings.HasPrefix(v.Error, tc.want) || w.branches.read("child") != 0) {
				t.Errorf("%s %q, want %q", v.Status, v.Error, tc.want)
			}
			if got := strings.Join(w.branches.destroyed, " "); (got == "child") != (tc.want != "") {
				t.Errorf("destroyed %q", got)
			}
		})
	}
}

// TestSubmitFork: errors of a create call that names a parent.
// spec: [C2.21] [C13.7]
func TestSubmitFork(t *testing.T) {
	t.Parallel()
	w := family(t)
	d := w.start(t, pullRequests(svc.ProdForkReject, ""))
	d.submit(t, svc.NewVersion{ID: "pending"})
	for name, tc := range map[string]struct {
		n    svc.NewVersion
		code string
	}{
		"unknown":    {svc.NewVersion{ParentID: "unknown"}, "parent_not_found"},
		"itself":     {svc.NewVersion{ID: "v9", ParentID: "v9"}, "parent_not_found"},
		"no id":      {svc.NewVersion{ParentID: "shop/v1"}, "parent_not_found"},
		"pending":    {svc.NewVersion{ParentID: "pending"}, "parent_not_ready"},
		"production": {svc.NewVersion{ParentID: "v1", GitRef: "pull/7"}, "fork_of_production"},
	} {
		tc.n.Project = "shop"
		_, err := d.Submit(t.Context(), tc.n, svc.SubmitOptions{})
		e := svc.AsError(err)
		if !errors.Is(err, svc.Unprocessable) || e.Code != tc.code || len(e.Fields) != 1 || e.Fields[0].Pointer != "/parent_version_id" {
			t.Errorf("%s: %v", name, err)
		}
	}
	asked := svc.NewVersion{ID: "v2", ParentID: "staging", GitRef: "pull/7"}
	d.submit(t, asked)
	registrytest.Move(t, w.DB, ref("staging"), svc.TriggerDestroy)
	d.submit(t, asked) // CI retries [D9]
}

// TestScrub: a fork of production for a pull request is scrubbed before it serves.
// spec: [C2.21]
func TestScrub(t *testing.T) {
	t.Parallel()
	const sql = "update users set mail = ''"
	w := family(t)
	w.branches.write("v1", 5)
	d := w.start(t, pullRequests(svc.ProdForkScrub, sql))
	v := d.run(t, d.child(t, svc.NewVersion{ParentID: "v1", GitRef: "pull/7"}))
	if v.Status != svc.StatusReady || v.ScrubID != "child" {
		t.Fatalf("%s %q, scrub %q", v.Status, v.Error, v.ScrubID)
	}
	if got := d.runtimes.open[v.Ref].Scrub; got != (svc.Scrub{ID: "child", SQL: sql}) {
		t.Errorf("the runtime's spec has %+v", got)
	}
	var details []string
	for _, s := range v.Timeline {
		details = append(details, s.Detail)
	}
	if diff := cmp.Diff([]string{"forked 2 databases of v1 at 5", "scrubbed; applied 1 migration: 0001_init.sql"}, details[1:3]); diff != "" {
		t.Errorf("the timeline (-want +got):\n%s", diff)
	}
}

// TestScrubFailsClosed: a version whose scrub fails does not serve, even in lenient
// mode.
// spec: [C2.21]
func TestScrubFailsClosed(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ sql, want string }{
		"no SQL": {"", "preparing: scrub_missing: "},
		"fails":  {"update", "preparing: scrub_failed: incomplete input"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := family(t)
			before := w.start(t, pullRequests(svc.ProdForkScrub, "update t set a = 1"))
			c := before.child(t, svc.NewVersion{ParentID: "v1", GitRef: "pull/7"})
			d := w.start(t, func(deps *deploy.Deps) {
				pullRequests(svc.ProdForkScrub, tc.sql)(deps)
				deps.Lenient = true
			})
			d.runtimes.hook = func(_ context.Context, call string, _ svc.Ref) error {
				if call == "prepare" {
					return svc.Errorf(svc.Unprocessable, "scrub_failed", "incomplete input")
				}
				return nil
			}
			v := d.run(t, c)
			if v.Status != svc.StatusFailed || !strings.HasPrefix(v.Error, tc.want) || len(v.Warnings) != 0 {
				t.Errorf("%s %q, warnings %q", v.Status, v.Error, v.Warnings)
			}
			if got := d.gateway.answer(c); got != http.StatusServiceUnavailable {
				t.Errorf("it answers %d", got)
			}
		})
	}
}

// TestBranchFailure: a version whose data cannot be forked, of whatever binding, fails
// and does not serve.
// spec: [C7.16]
func TestBranchFailure(t *testing.T) {
	t.Parallel()
	w := family(t)
	d := w.start(t, nil)
	w.branches.hook = func(context.Context, string) error {
		return svc.Errorf(svc.Conflict, svc.CodeParentNotReady, "the parent has no cut")
	}
	c := d.child(t, svc.NewVersion{})
	v := d.run(t, c)
	if v.Status != svc.StatusFailed || v.Error != "branching: parent_not_ready: the parent has no cut" {
		t.Errorf("%s %q", v.Status, v.Error)
	}
	if _, open := d.runtimes.open[c]; open {
		t.Error("it has a runtime")
	}
}

// TestLenientBranch: lenient mode continues without the parent's data and adds a
// warning [D47].
// spec: [C7.19]
func TestLenientBranch(t *testing.T) {
	t.Parallel()
	w := family(t)
	d := w.start(t, func(deps *deploy.Deps) { deps.Lenient = true })
	w.branches.hook = func(context.Context, string) error {
		return svc.Errorf(svc.Unavailable, "store_unreachable", "no answer")
	}
	v := d.run(t, d.child(t, svc.NewVersion{}))
	want := []string{"branching: store_unreachable: no answer; the version continues without its parent's data"}
	if diff := cmp.Diff(want, v.Warnings); diff != "" || v.Status != svc.StatusReady || v.ForkTXID != "" {
		t.Errorf("%s %q (-want +got):\n%s", v.Status, v.Error, diff)
	}
}

// TestRestoreCleansUpLast: the cleanup of failed versions does not delay the start
// of others.
func TestRestoreCleansUpLast(t *testing.T) {
	t.Parallel()
	w := family(t)
	before := w.start(t, nil)
	failed := before.submit(t, svc.NewVersion{ID: "failed"})
	registrytest.Move(t, w.DB, failed, svc.TriggerFail)
	d := w.start(t, nil)
	d.runtimes.hook = func(_ context.Context, call string, _ svc.Ref) error {
		if len(w.branches.destroyed) > 0 {
			t.Errorf("%s comes after a cleanup", call)
		}
		return nil
	}
	if err := d.Restore(t.Context()); err != nil || strings.Join(w.branches.destroyed, " ") != "failed" {
		t.Errorf("%v; destroyed %v", err, w.branches.destroyed)
	}
}

// TestCleanupLimit: an object store that fails blocks neither the worker of a failed
// deploy nor a start; a later start completes the cleanup.
func TestCleanupLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	deployed(t, w, "v1")
	w.branches.full = func(ctx context.Context) error {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	short := func(deps *deploy.Deps) { deps.CleanupLimit = 20 * time.Millisecond }
	d := w.start(t, short)
	w.upload(t, ref("bad"), []byte("no bundle"))
	if v := d.run(t, d.submit(t, svc.NewVersion{ID: "bad"})); v.Status != svc.StatusFailed {
		t.Errorf("it is %s", v.Status)
	}
	if got := d.seen.counts[len(d.seen.counts)-1]; got != "result failed" {
		t.Errorf("the last count is %q", got)
	}
	if err := w.start(t, short).Restore(t.Context()); err != nil || len(w.branches.destroyed) != 0 {
		t.Errorf("%v; destroyed %v", err, w.branches.destroyed)
	}
	w.branches.full = nil
	if err := w.start(t, nil).Restore(t.Context()); err != nil || strings.Join(w.branches.destroyed, " ") != "bad" {
		t.Errorf("%v; destroyed %v", err, w.branches.destroyed)
	}
}
