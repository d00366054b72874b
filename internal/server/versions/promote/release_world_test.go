package promote_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/server/versions/promote"
	"github.com/svcctl/svcctl/internal/svc"
)

// releases is the part of the deploys and the worker hosts in releases, without processes.
type releases struct {
	w *world

	mu      sync.Mutex
	calls   []string
	fail    map[string]error         // what a call returns
	slow    map[string]time.Duration // how long a call takes
	running []string                 // events that do not end
	busy    int                      // how often the old version cannot end yet
	asleep  int                      // how often production falls asleep before its hold
	code    map[string]bool          // migrations of all bundles
}

func (r *releases) call(ctx context.Context, name string) error {
	r.mu.Lock()
	r.calls = append(r.calls, name)
	fails, takes := r.fail[name], r.slow[name]
	r.mu.Unlock()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(takes):
		return fails
	}
}

func (r *releases) log() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.calls)
}

func (r *releases) called(name string) bool { return slices.Contains(r.log(), name) }

func (r *releases) Seal(ctx context.Context, ref svc.Ref, s control.Seal) (done control.Sealing, err error) {
	err = r.call(ctx, string(s.State)+" "+ref.Version)
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case s.State == control.SealAhead && r.asleep > 0:
		r.asleep--
		return done, svc.Errorf(svc.Unavailable, svc.CodeRuntimeUnavailable, "it sleeps")
	case s.State == control.SealPaused:
		done.Running = r.running
	case s.State == control.SealReleased:
		done.Refused = 3
	}
	return done, err
}

func (r *releases) Begin(ctx context.Context, v svc.Version) (promote.Deploy, error) {
	if err := r.call(ctx, "begin"); err != nil {
		return nil, err
	}
	d := &deployed{r, v.Ref}
	return d, d.moves(ctx, svc.TriggerFetch, svc.TriggerBranch)
}

func (r *releases) FailInterrupted(ctx context.Context, ref svc.Ref) error {
	return errors.Join(r.call(ctx, "fail interrupted"), (&deployed{r, ref}).moves(ctx, svc.TriggerFail))
}

func (r *releases) Exclude(ctx context.Context, _ svc.Ref) (own context.Context, release func(), err error) {
	return ctx, func() {}, nil
}

func (r *releases) Migrations(context.Context, svc.Ref) (map[string]bool, error) { return r.code, nil }

func (r *releases) Awake(ctx context.Context, ref svc.Ref) error {
	return r.call(ctx, "awake "+ref.Version)
}

func (r *releases) Retire(ctx context.Context, ref svc.Ref, _ bool) (busy bool, err error) {
	err = r.call(ctx, "retire "+ref.Version)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.busy--
	return r.busy >= 0, err
}

// deployed is a promote.Deploy.
type deployed struct {
	*releases
	ref svc.Ref
}

func (d *deployed) moves(ctx context.Context, triggers ...svc.Trigger) (err error) {
	for _, t := range triggers {
		if err == nil {
			_, err = d.w.Move(ctx, d.ref, t, svc.Change{})
		}
	}
	return err
}

func (*deployed) Manifest() (bundle.Manifest, error) { return bundle.Manifest{}, nil }

func (d *deployed) Fork(ctx context.Context, _ branch.VersionCut) error {
	return errors.Join(d.call(ctx, "fork"), d.moves(context.WithoutCancel(ctx), svc.TriggerPrepare))
}

func (d *deployed) Prepare(ctx context.Context, _ branch.VersionCut) (svc.Prepared, error) {
	return svc.Prepared{}, errors.Join(d.call(ctx, "prepare"), d.moves(context.WithoutCancel(ctx), svc.TriggerDeploy))
}

func (d *deployed) Start(ctx context.Context, _ string) error { return d.call(ctx, "start") }

func (d *deployed) Commit(ctx context.Context, detail string) (bool, error) {
	if err := d.call(ctx, "commit"); err != nil {
		return false, err
	}
	_, err := d.w.Move(ctx, d.ref, svc.TriggerActivate, svc.Change{Detail: detail, InsteadOf: "v1"})
	return err == nil, err
}

func (d *deployed) Fail(ctx context.Context, _ string, _ error) error {
	return errors.Join(d.call(ctx, "fail"), d.moves(ctx, svc.TriggerFail))
}

func (d *deployed) End() { _ = d.call(context.Background(), "end") }

func (*deployed) Done() <-chan struct{} { return nil }

// releaseWorld is a world with production v1 and the candidate check.
func releaseWorld(t *testing.T) (*world, *daemon, *releases) {
	t.Helper()
	w := newWorld(t)
	w.addReady(t, "v1")
	w.addReady(t, "check")
	r := &releases{w: w, fail: map[string]error{}, slow: map[string]time.Duration{}}
	d := w.start(t, r.use)
	if err := d.AssignFirst(t.Context(), ref("v1")); err != nil {
		t.Fatal(err)
	}
	d.gateway.mu.Lock()
	d.gateway.events = nil
	d.gateway.mu.Unlock()
	return w, d, r
}

// use makes a daemon use r.
func (r *releases) use(d *promote.Deps) {
	d.Releases, d.Sealer, d.Deploys = r.w, r, r
	d.Forks = svc.ForkPolicy{PRRefs: []string{"refs/pull/*"}}
}

// release runs one release to its end and returns its record.
func (d *daemon) release(t *testing.T, w *world, req svc.ReleaseRequest) svc.Promotion {
	t.Helper()
	op, err := d.Release(t.Context(), ref("check"), req)
	if err != nil {
		t.Fatal(err)
	}
	<-d.done
	got, err := w.Promotion(t.Context(), "shop", op.ID)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func (*releases) Reopen(context.Context, svc.Ref) error { return nil }

func (*releases) Archive(context.Context, svc.Ref) error { return nil }
