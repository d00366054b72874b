package fork

import (
	"context"
	"errors"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/lib/failpoint"
	"github.com/svcctl/svcctl/internal/svc"
)

// limit bounds a fork, together with a quarter of the grace: the objects that the fork
// names must not be collected before its manifest is stored.
const limit = time.Minute

// Fork forks the data of parent for child, or returns the fork of an earlier call with
// the same id. It returns the zero Forked for a parent without data. Errors: those of
// the parent's runtime if the parent can be cut neither there nor in the object store.
func (s *Service) Fork(ctx context.Context, parent, child svc.Ref, id string) (svc.Forked, error) {
	ctx, cancel := context.WithTimeout(ctx, min(limit, s.deps.Records.Grace()/4))
	defer cancel()
	began := time.Now()
	cut, done, err := s.cutUnlessForked(ctx, parent, child, id)
	if done != nil {
		return forked(done, ""), nil
	}
	if err != nil || len(cut.Databases) == 0 {
		return svc.Forked{}, err
	}
	failpoint.Hit("branch/fork/cut")
	m, err := s.deps.Records.Fork(ctx, branch.Fork{Parent: parent, Child: child, ID: id, At: began, Cuts: cut.Databases})
	if err != nil {
		return svc.Forked{}, notStored(child, began, err)
	}
	failpoint.Hit("branch/fork/committed")
	s.deps.Observer.BranchDone(time.Since(began))
	return forked(m, cut.Warm), nil
}

// notStored returns err, or names what failed if err is one of the object store: Records tries again
// until the limit.
func notStored(child svc.Ref, began time.Time, err error) error {
	if _, known := errors.AsType[*svc.Error](err); known {
		return err
	}
	return svc.Errorf(svc.Unavailable, svc.CodeBranchNotStored, "the object store did not store the branch record of %s within %s", child, time.Since(began).Round(time.Second)).
		WithHint("read the daemon's log and GET /v1/health/deep; then deploy again").Because(err)
}

// ForkAt is Fork at a cut that the caller has made, and whose files it keeps from collection. A
// repeat with the same id returns the first result.
func (s *Service) ForkAt(ctx context.Context, parent, child svc.Ref, id string, cut branch.VersionCut) (svc.Forked, error) {
	began := time.Now()
	m, err := s.deps.Records.Fork(ctx, branch.Fork{Parent: parent, Child: child, ID: id, At: began, Cuts: cut.Databases})
	if err != nil {
		return svc.Forked{}, notStored(child, began, err)
	}
	failpoint.Hit("branch/fork/committed")
	s.deps.Observer.BranchDone(time.Since(began))
	return forked(m, cut.Warm), nil
}

// cutUnlessForked cuts the parent or, if an earlier attempt has made the fork, returns
// its manifest. It does both concurrently and returns a finished cut immediately,
// because Records.Fork also finds an earlier fork.
func (s *Service) cutUnlessForked(ctx context.Context, parent, child svc.Ref, id string) (branch.VersionCut, *branch.Manifest, error) {
	type taken struct {
		cut branch.VersionCut
		err error
	}
	earlier, cuts := make(chan *branch.Manifest, 1), make(chan taken, 1)
	go func() { earlier <- s.earlier(ctx, child, id) }()
	go func() {
		cut, err := s.cut(ctx, parent)
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

// earlier returns the manifest of an earlier attempt of the same fork, or nil.
// Records.Fork handles errors and the manifest of another fork.
func (s *Service) earlier(ctx context.Context, child svc.Ref, id string) *branch.Manifest {
	m, err := s.deps.Records.Load(ctx, child)
	if err != nil || m == nil || m.ForkID != id {
		return nil
	}
	return m
}

func forked(m *branch.Manifest, warm string) svc.Forked {
	return svc.Forked{TXID: txid(m.Databases), Databases: len(m.Databases), Warm: warm}
}
