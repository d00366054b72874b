package fork

import (
	"context"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/lib/failpoint"
	"github.com/svcctl/svcctl/internal/svc"
)

// ForkPast is Fork at the newest point of the parent's past at or before a time. It needs no runtime of the
// parent. Errors: Unprocessable, history_off or history_missing.
func (s *Service) ForkPast(ctx context.Context, parent, child svc.Ref, id string, t time.Time) (svc.Forked, error) {
	ctx, cancel := context.WithTimeout(ctx, min(limit, s.deps.Records.Grace()/4))
	defer cancel()
	if m := s.earlier(ctx, child, id); m != nil {
		return forked(m, ""), nil
	}
	if s.deps.CutPast == nil {
		return svc.Forked{}, svc.HistoryOff()
	}
	began := time.Now()
	databases, at, err := s.deps.CutPast(ctx, parent, t)
	if err != nil || len(databases) == 0 {
		return svc.Forked{}, err
	}
	failpoint.Hit("branch/fork/cut")
	m, err := s.deps.Records.Fork(ctx, branch.Fork{Parent: parent, Child: child, ID: id, At: began, Cuts: databases})
	if err != nil {
		return svc.Forked{}, notStored(child, began, err)
	}
	failpoint.Hit("branch/fork/committed")
	s.deps.Observer.BranchDone(time.Since(began))
	f := forked(m, "")
	f.At = at
	return f, nil
}
