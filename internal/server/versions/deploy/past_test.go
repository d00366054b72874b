package deploy_test

import (
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/server/versions/deploy"
	"github.com/svcctl/svcctl/internal/svc"
)

// TestBranchOfThePast: a version that asks for a moment of its parent begins with a point of then, and its timeline
// says of when.
func TestBranchOfThePast(t *testing.T) {
	t.Parallel()
	w := family(t)
	d := w.start(t, func(deps *deploy.Deps) { deps.History = true })
	at := time.Date(2026, 3, 4, 10, 41, 3, 0, time.UTC)
	v := d.run(t, d.child(t, svc.NewVersion{ParentAt: at}))
	if v.Status != svc.StatusReady || v.ForkTXID != "17" || !v.ParentAt.Equal(at) {
		t.Errorf("the record is %+v", v)
	}
	if got := branching(t, v).Detail; got != "forked 2 databases of staging at 17, as of 2026-03-04T10:41:02.960Z, 40ms before the moment" {
		t.Errorf("the step says %q", got)
	}
}

// TestSubmitOfThePast: without history, and without a parent, a moment is refused when the version is created.
func TestSubmitOfThePast(t *testing.T) {
	t.Parallel()
	w := family(t)
	for name, tc := range map[string]struct {
		history bool
		n       svc.NewVersion
		code    string
	}{
		"without history": {false, svc.NewVersion{ParentID: "staging", ParentAt: time.Now()}, svc.CodeHistoryOff},
		"without parent":  {true, svc.NewVersion{ParentAt: time.Now()}, svc.CodeInvalidMoment},
		"in the future":   {true, svc.NewVersion{ParentID: "staging", ParentAt: time.Now().Add(time.Hour)}, svc.CodeInvalidMoment},
	} {
		d := w.start(t, func(deps *deploy.Deps) { deps.History = tc.history })
		tc.n.Project = "shop"
		_, err := d.Submit(t.Context(), tc.n, svc.SubmitOptions{})
		if e := svc.AsError(err); e == nil || e.Kind != svc.Unprocessable || e.Code != tc.code || len(e.Fields) != 1 || e.Fields[0].Pointer != "/parent_at" {
			t.Errorf("%s: %+v", name, err)
		}
	}
}
