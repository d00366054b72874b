package arming

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/svcctl/svcctl/internal/lib/keyed"
	"github.com/svcctl/svcctl/internal/lib/service"
	"github.com/svcctl/svcctl/internal/svc"
)

// Records reads projects and versions.
type Records interface {
	Project(ctx context.Context, id string) (svc.Project, error)
	Version(ctx context.Context, ref svc.Ref) (svc.Version, error)
}

// Runtimes arms and lists the runtimes of versions.
type Runtimes interface {
	// Arm sets which events a version gets. Without a runtime it does nothing.
	Arm(ctx context.Context, ref svc.Ref, a svc.Arming) error
	Runtimes() []svc.Runtime
}

// Service arms and disarms versions. It is safe for concurrent use.
type Service struct {
	records  Records
	runtimes Runtimes
	log      *slog.Logger

	projects keyed.Mutex[string]
	work     service.Work
}

// New returns a Service. It starts nothing.
func New(records Records, runtimes Runtimes, log *slog.Logger) *Service {
	return &Service{records: records, runtimes: runtimes, log: log}
}

// Stop rejects reports and waits for running ones.
func (s *Service) Stop(ctx context.Context) error { return s.work.Stop(ctx) }

// VersionChanged reports a new status or endpoint of a version. Without a socket there
// is no runtime to arm. VersionChanged does not block.
func (s *Service) VersionChanged(ctx context.Context, ref svc.Ref, u svc.Upstream) {
	if u.Socket == "" {
		return
	}
	s.settle(ctx, ref.Project, func(p svc.Project) []svc.Ref {
		if p.ProdVersionID == ref.Version { // the previous production is disarmed first
			return s.running(p.ID)
		}
		return []svc.Ref{ref}
	})
}

// ProductionChanged reports a new production of a project. It does not block.
func (s *Service) ProductionChanged(ctx context.Context, project string) {
	s.settle(ctx, project, func(p svc.Project) []svc.Ref { return s.running(p.ID) })
}

// ReadOnlyChanged reports that a project has become read-only or writable. It returns when its versions
// with a runtime know it, or with the error of one that could not be told.
func (s *Service) ReadOnlyChanged(ctx context.Context, project string) error {
	done := make(chan error, 1)
	err := s.work.Go(ctx, func(ctx context.Context) {
		done <- s.arm(ctx, project, func(p svc.Project) []svc.Ref { return s.running(p.ID) })
	})
	if err != nil {
		return err
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// running returns the versions of a project with a runtime.
func (s *Service) running(project string) (refs []svc.Ref) {
	for _, r := range s.runtimes.Runtimes() {
		if r.Ref.Project == project {
			refs = append(refs, r.Ref)
		}
	}
	return refs
}

// settle is arm in the background.
func (s *Service) settle(ctx context.Context, project string, choose func(svc.Project) []svc.Ref) {
	_ = s.work.Go(ctx, func(ctx context.Context) { // an error means that the daemon stops
		err := s.arm(ctx, project, choose)
		if err != nil && ctx.Err() == nil && !errors.Is(err, svc.NotFound) { // its deletion is the last change of a project
			s.log.WarnContext(ctx, "arming the versions of a project failed", "project", project, "error", err)
		}
	})
}

// arm arms and disarms the versions that choose returns, one call per project at a time.
func (s *Service) arm(ctx context.Context, project string, choose func(svc.Project) []svc.Ref) error {
	ctx, unlock, err := s.projects.Lock(ctx, project)
	if err != nil {
		return err
	}
	defer unlock()
	p, err := s.records.Project(ctx, project)
	if err != nil {
		return err
	}
	return s.apply(ctx, p, choose(p))
}

// apply disarms before it arms, so that two versions are never armed where only one
// may be. In a read-only project none gets events: there it also tells the versions that come after
// one that failed.
func (s *Service) apply(ctx context.Context, p svc.Project, refs []svc.Ref) error {
	type decision struct {
		ref svc.Ref
		svc.Arming
	}
	decisions := make([]decision, len(refs))
	for i, ref := range refs {
		v, err := s.records.Version(ctx, ref)
		if err != nil {
			return fmt.Errorf("reading version %s: %w", ref, err)
		}
		decisions[i] = decision{ref, p.Arms(v)}
	}
	slices.SortStableFunc(decisions, func(a, b decision) int { return cmp.Compare(order(a.Arming), order(b.Arming)) })
	var errs []error
	for _, d := range decisions {
		if err := s.runtimes.Arm(ctx, d.ref, d.Arming); err != nil {
			errs = append(errs, fmt.Errorf("version %s: %w", d.ref, err))
			if !p.ReadOnly {
				break
			}
		}
	}
	return errors.Join(errs...)
}

// order puts versions that get less before those that get more: production gets all.
func order(a svc.Arming) int {
	switch {
	case a.Crons && a.Events:
		return 2
	case a.Crons || a.Events:
		return 1
	}
	return 0
}
