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

	"github.com/svcctl/svcctl/internal/deploy"
	"github.com/svcctl/svcctl/internal/jobs"
	"github.com/svcctl/svcctl/internal/svc"
)

// branches are the data of versions: a number that grows as they write. They
// survive a daemon.
type branches struct {
	dir  string
	hook func(ctx context.Context, point string) error // before and after a fork; nil: none
	full func(ctx context.Context) error               // what a store that takes no writes says to a discard; nil: it takes them

	mu        sync.Mutex
	written   map[svc.Ref]int // what each version has; none: no store
	forks     map[string]deploy.Forked
	discarded []string
}

func newBranches(dir string) *branches {
	return &branches{dir: dir, written: map[svc.Ref]int{}, forks: map[string]deploy.Forked{}}
}

func (b *branches) Fork(ctx context.Context, parent, child svc.Ref, id string) (deploy.Forked, error) {
	if err := b.at(ctx, "before"); err != nil {
		return deploy.Forked{}, err
	}
	made := b.fork(parent, child, id)
	return made, b.at(ctx, "after")
}

func (b *branches) fork(parent, child svc.Ref, id string) deploy.Forked {
	b.mu.Lock()
	defer b.mu.Unlock()
	if made, ok := b.forks[id]; ok {
		return made
	}
	made := deploy.Forked{}
	if cut, ok := b.written[parent]; ok {
		made = deploy.Forked{TXID: fmt.Sprint(cut), Stores: 2, Warm: "from " + parent.Version}
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

func (b *branches) Discard(ctx context.Context, ref svc.Ref) error {
	if b.full != nil {
		return b.full(ctx)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.written, ref)
	b.discarded = append(b.discarded, ref.Version)
	return os.RemoveAll(filepath.Join(b.dir, ref.Project, ref.Version))
}

// write lets a version have n writes.
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

// pullRequests lets forks of production happen as mode says.
func pullRequests(mode svc.ProdFork, sql string) func(*deploy.Deps) {
	return func(d *deploy.Deps) {
		d.Forks, d.ScrubSQL = svc.ForkPolicy{PRRefs: []string{"pull/*"}, Production: mode}, sql
	}
}

// family is a production v1 and a staging version with 17 writes.
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

// branching is the step's row in the timeline.
func branching(t *testing.T, v svc.Version) svc.StepRun {
	t.Helper()
	for _, s := range v.Timeline {
		if s.Step == "branching" {
			return s
		}
	}
	t.Fatalf("%s never branched: %+v", v.Version, v.Timeline)
	return svc.StepRun{}
}

func TestBranch(t *testing.T) {
	t.Parallel()
	w := family(t)
	d := w.start(t, nil)
	c := d.child(t, svc.NewVersion{})
	v := d.run(t, c)
	if v.Status != svc.StatusReady || v.ForkTXID != "17" || v.ParentID != "staging" || v.ScrubID != "" {
		t.Errorf("the record is %+v", v)
	}
	if got := branching(t, v); got.Status != svc.StepDone || got.Detail != "branched 2 stores of staging at 17" {
		t.Errorf("the step is %+v", got)
	}
	if spec := d.runtimes.open[c]; spec.Parent != "staging" || spec.Warm != "from staging" || spec.Scrub != (svc.Scrub{}) {
		t.Errorf("the runtime's spec is %+v", spec)
	}
	w.branches.write("staging", 18)
	d.run(t, c) // the job once more
	if w.branches.read("child") != 17 {
		t.Error("it was branched again")
	}
	next := w.start(t, nil)
	if err := next.Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	if spec := next.runtimes.open[c]; spec.Parent != "staging" || spec.Warm != "" {
		t.Errorf("after a restart the spec is %+v", spec)
	}
}

func TestBranchOfNothing(t *testing.T) {
	t.Parallel()
	w := family(t)
	d := w.start(t, nil)
	v := d.run(t, d.child(t, svc.NewVersion{ParentID: "v1"}))
	if v.Status != svc.StatusReady || v.ForkTXID != "" || branching(t, v).Detail != "v1 has no data to branch" {
		t.Errorf("%s %q, branched at %q: %+v", v.Status, v.Error, v.ForkTXID, branching(t, v))
	}
}

// A fork that a crash cut off is made once: the resumed deploy gets the cut of
// the first attempt, whatever the parent wrote since.
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
			err := d.Run(ctx, jobs.Job{Ref: c, Attempt: 1})
			if v := w.version(t, c); !errors.Is(err, context.Canceled) || v.Status != svc.StatusBranching || v.ForkTXID != "" {
				t.Fatalf("%v; %s %q", err, v.Status, v.ForkTXID)
			}
			w.branches.write("staging", 18)
			w.branches.hook = nil
			next := w.start(t, nil)
			if v := next.run(t, c); v.Status != svc.StatusReady || v.ForkTXID != fmt.Sprint(cut) || w.branches.read("child") != cut {
				t.Errorf("%s %q, branched at %q", v.Status, v.Error, v.ForkTXID)
			}
		})
	}
}

// Once its fork is on record, a version needs its parent no more [D22].
func TestBranchOutlivesParent(t *testing.T) {
	t.Parallel()
	w := family(t)
	d := w.start(t, nil)
	c := d.child(t, svc.NewVersion{})
	w.move(t, c, svc.TriggerFetch, svc.TriggerBranch)
	w.branches.fork(ref("staging"), c, fmt.Sprintf("shop/child@%d", w.version(t, c).CreatedAt.UnixNano()))
	if err := w.SetForkTXID(t.Context(), c, "17"); err != nil {
		t.Fatal(err)
	}
	w.move(t, ref("staging"), svc.TriggerDestroy)
	if v := w.start(t, nil).run(t, c); v.Status != svc.StatusReady || v.ForkTXID != "17" {
		t.Errorf("%s %q", v.Status, v.Error)
	}
}

// TestParentChanges: between the create and the fork the parent stopped being
// one.
func TestParentChanges(t *testing.T) {
	t.Parallel()
	promote := func(t *testing.T, w *world) {
		t.Helper()
		if err := w.SetProduction(t.Context(), "shop", "v1", "staging"); err != nil {
			t.Fatal(err)
		}
	}
	destroy := func(t *testing.T, w *world) { t.Helper(); w.move(t, ref("staging"), svc.TriggerDestroy) }
	archive := func(t *testing.T, w *world) { t.Helper(); w.move(t, ref("staging"), svc.TriggerArchive) }
	for name, tc := range map[string]struct {
		mode   svc.ProdFork
		change func(*testing.T, *world)
		during bool // it changes while the fork is made, which fails for that
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
			if got := strings.Join(w.branches.discarded, " "); (got == "child") != (tc.want != "") {
				t.Errorf("discarded %q", got)
			}
		})
	}
}

// TestSubmitFork: what a client is told about its parent.
func TestSubmitFork(t *testing.T) {
	t.Parallel()
	w := family(t)
	d := w.start(t, pullRequests(svc.ProdForkReject, ""))
	d.submit(t, svc.NewVersion{ID: "pending"})
	for name, tc := range map[string]struct {
		n    svc.NewVersion
		code string
	}{
		"unknown":    {svc.NewVersion{ParentID: "nobody"}, "parent_not_found"},
		"itself":     {svc.NewVersion{ID: "v9", ParentID: "v9"}, "parent_not_found"},
		"no id":      {svc.NewVersion{ParentID: "shop/v1"}, "parent_not_found"},
		"pending":    {svc.NewVersion{ParentID: "pending"}, "parent_not_ready"},
		"production": {svc.NewVersion{ParentID: "v1", GitRef: "pull/7"}, "fork_of_production"},
	} {
		tc.n.Project = "shop"
		_, err := d.Submit(t.Context(), tc.n, deploy.SubmitOptions{})
		e := svc.AsError(err)
		if !errors.Is(err, svc.Unprocessable) || e.Code != tc.code || len(e.Fields) != 1 || e.Fields[0].Pointer != "/parent_version_id" {
			t.Errorf("%s: %v", name, err)
		}
	}
	asked := svc.NewVersion{ID: "v2", ParentID: "staging", GitRef: "pull/7"}
	d.submit(t, asked)
	w.move(t, ref("staging"), svc.TriggerDestroy)
	d.submit(t, asked) // CI tries again [D9]
}

// TestScrub: what is forked off production for a pull request is scrubbed
// before anybody sees it.
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
		t.Errorf("the runtime was given %+v", got)
	}
	var details []string
	for _, s := range v.Timeline {
		details = append(details, s.Detail)
	}
	if diff := cmp.Diff([]string{"branched 2 stores of v1 at 5", "scrubbed; applied 1 migrations: 0001_init.sql"}, details[1:3]); diff != "" {
		t.Errorf("the timeline (-want +got):\n%s", diff)
	}
}

// What cannot be scrubbed does not serve, in lenient mode neither.
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
			if got := d.gate.answer(c); got != http.StatusServiceUnavailable {
				t.Errorf("it answers %d", got)
			}
		})
	}
}

// Lenient mode goes on without the parent's data, and says so [D47].
func TestLenientBranch(t *testing.T) {
	t.Parallel()
	w := family(t)
	d := w.start(t, func(deps *deploy.Deps) { deps.Lenient = true })
	w.branches.hook = func(context.Context, string) error {
		return svc.Errorf(svc.Unavailable, "store_unreachable", "no answer")
	}
	v := d.run(t, d.child(t, svc.NewVersion{}))
	want := []string{"branching: store_unreachable: no answer; the version goes on without its parent's data"}
	if diff := cmp.Diff(want, v.Warnings); diff != "" || v.Status != svc.StatusReady || v.ForkTXID != "" {
		t.Errorf("%s %q (-want +got):\n%s", v.Status, v.Error, diff)
	}
}

// Leftovers of failed versions keep nobody waiting at a start.
func TestRestoreDiscardsLast(t *testing.T) {
	t.Parallel()
	w := family(t)
	before := w.start(t, nil)
	failed := before.submit(t, svc.NewVersion{ID: "failed"})
	w.move(t, failed, svc.TriggerFail)
	d := w.start(t, nil)
	d.runtimes.hook = func(_ context.Context, call string, _ svc.Ref) error {
		if len(w.branches.discarded) > 0 {
			t.Errorf("%s comes after a discard", call)
		}
		return nil
	}
	if err := d.Restore(t.Context()); err != nil || strings.Join(w.branches.discarded, " ") != "failed" {
		t.Errorf("%v; discarded %v", err, w.branches.discarded)
	}
}

// A store that is asked again and again keeps neither the worker of a failed
// deploy nor a start, and a later start removes what is left.
func TestDiscardHasALimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	deployed(t, w, "v1")
	w.branches.full = func(ctx context.Context) error {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	short := func(deps *deploy.Deps) { deps.DiscardLimit = 20 * time.Millisecond }
	d := w.start(t, short)
	w.upload(t, ref("bad"), []byte("no bundle"))
	if v := d.run(t, d.submit(t, svc.NewVersion{ID: "bad"})); v.Status != svc.StatusFailed {
		t.Errorf("it is %s", v.Status)
	}
	if got := d.seen.counts[len(d.seen.counts)-1]; got != "result failed" {
		t.Errorf("counted %q at last", got)
	}
	if err := w.start(t, short).Restore(t.Context()); err != nil || len(w.branches.discarded) != 0 {
		t.Errorf("%v; discarded %v", err, w.branches.discarded)
	}
	w.branches.full = nil
	if err := w.start(t, nil).Restore(t.Context()); err != nil || strings.Join(w.branches.discarded, " ") != "bad" {
		t.Errorf("%v; discarded %v", err, w.branches.discarded)
	}
}
