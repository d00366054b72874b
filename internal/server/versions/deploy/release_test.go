package deploy_test

import (
	"context"
	"errors"
	"testing"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/server/versions/deploy"
	"github.com/svcctl/svcctl/internal/svc"
)

// lossy is a registry that loses the commit of a release, or the answer.
type lossy struct {
	*world
	commits bool // the commit happens; its answer is lost
	fails   bool
}

func (l *lossy) Move(ctx context.Context, ref svc.Ref, t svc.Trigger, c svc.Change) (svc.Version, error) {
	if !l.fails || t != svc.TriggerActivate {
		return l.world.Move(ctx, ref, t, c)
	}
	if l.commits {
		if v, err := l.world.Move(ctx, ref, t, c); err != nil {
			return v, err
		}
	}
	return svc.Version{}, errors.New("the answer is lost")
}

// staged returns a release of the candidate whose data is ready.
func (d *daemon) staged(t *testing.T, data []byte) (*deploy.Release, svc.Ref) {
	t.Helper()
	for _, id := range []string{"v1", "check"} {
		d.upload(t, ref(id), data)
		if v := d.run(t, d.submit(t, svc.NewVersion{ID: id})); v.Status != svc.StatusReady {
			t.Fatalf("%s is %s: %s", id, v.Status, v.Error)
		}
	}
	op := svc.Promotion{ID: "op-1", Project: "shop", Previous: "v1", Status: svc.PromotionRunning}
	v, err := d.CreateRelease(t.Context(), svc.NewVersion{Project: "shop", ID: "v2", ParentID: "v1", ReleasedFrom: "check"}, svc.ForkPolicy{}, &op)
	if err != nil {
		t.Fatal(err)
	}
	r, err := d.BeginRelease(t.Context(), v)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.End)
	if err := r.Fork(t.Context(), branch.VersionCut{}); err != nil {
		t.Fatal(err)
	}
	return r, v.Ref
}

// TestReleaseCommit: after an error of the commit, the registry tells whether it happened. The version
// is production, or fails and production is the one before.
func TestReleaseCommit(t *testing.T) {
	t.Parallel()
	for name, commits := range map[string]bool{"the answer is lost": true, "nothing is committed": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			l := &lossy{world: w, commits: commits}
			d := w.start(t, func(deps *deploy.Deps) { deps.Versions = l })
			r, v := d.staged(t, hello(t))
			_, err := r.Prepare(t.Context(), branch.VersionCut{})
			if err := errors.Join(err, r.Start(t.Context(), "")); err != nil {
				t.Fatal(err)
			}
			l.fails = true
			committed, err := r.Commit(t.Context(), "released")
			if committed != commits || (err == nil) != commits {
				t.Errorf("committed: %t, %v", committed, err)
			}
			status, production := svc.StatusReady, "v2"
			if !commits {
				status, production = svc.StatusFailed, "v1"
				if err := r.Fail(t.Context(), "commit", err); err != nil {
					t.Fatal(err)
				}
			}
			p, err := w.Project(t.Context(), "shop")
			if got := registrytest.Get(t, w.DB, v).Status; err != nil || got != status || p.ProdVersionID != production {
				t.Errorf("v2 is %s, production %s, %v", got, p.ProdVersionID, err)
			}
		})
	}
}

// TestReleaseWrongData: data that does not begin at the cut, as data of a wrong cut or an empty root,
// stops the release.
func TestReleaseWrongData(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		cut  map[string]branch.Cut
		code string
	}{
		"the cut":            {map[string]branch.Cut{"sys": {TXID: 7}}, ""},
		"an earlier one":     {map[string]branch.Cut{"sys": {TXID: 8}}, svc.CodeReleaseCheck},
		"a later one":        {map[string]branch.Cut{"sys": {TXID: 6}}, svc.CodeReleaseCheck},
		"a missing database": {map[string]branch.Cut{"sys": {TXID: 7}, "d1-main": {TXID: 1}}, svc.CodeReleaseCheck},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newWorld(t).start(t, nil)
			r, _ := d.staged(t, hello(t))
			_, err := r.Prepare(t.Context(), branch.VersionCut{Databases: tc.cut})
			if svc.CodeOf(err) != tc.code {
				t.Errorf("%v, want %q", err, tc.code)
			}
		})
	}
}
