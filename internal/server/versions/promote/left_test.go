package promote_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/server/versions/promote"
	"github.com/svcctl/svcctl/internal/svc"
)

// leftovers counts the calls as messages, and waits for its time limit if slow.
type leftovers struct {
	slow  bool
	calls []string
}

func (l *leftovers) Left(ctx context.Context, production, target svc.Ref) svc.Left {
	if l.slow {
		<-ctx.Done()
	}
	l.calls = append(l.calls, production.Version+" to "+target.Version)
	return svc.Left{Unmerged: &svc.Unmerged{Common: production.Version}, Waiting: &svc.Waiting{Messages: len(l.calls)}}
}

// TestLeft: the record says what stays with the old production; the first production has
// no old one.
func TestLeft(t *testing.T) {
	t.Parallel()
	for _, slow := range []bool{false, true} {
		w, l := newWorld(t), &leftovers{slow: slow}
		w.addReady(t, "v1")
		w.addReady(t, "v2")
		d := w.start(t, func(deps *promote.Deps) { deps.Leftovers, deps.CountLimit = l, time.Millisecond })
		if op := d.promote(t, w, "v1"); op.Left != (svc.Left{}) {
			t.Errorf("the first production left %+v", op.Left)
		}
		op := d.promote(t, w, "v2")
		want := svc.Left{Unmerged: &svc.Unmerged{Common: "v1"}, Waiting: &svc.Waiting{Messages: 1}}
		if diff := cmp.Diff(want, op.Left); diff != "" || len(l.calls) != 1 || l.calls[0] != "v1 to v2" {
			t.Errorf("calls %q, record (-want +got):\n%s", l.calls, diff)
		}
	}
}
