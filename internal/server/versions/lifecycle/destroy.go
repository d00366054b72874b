package lifecycle

import (
	"context"

	"github.com/svcctl/svcctl/internal/lib/failpoint"
	"github.com/svcctl/svcctl/internal/svc"
)

// errDestroying is the cause when a destroy interrupts a wake or an archive.
var errDestroying = svc.Errorf(svc.Gone, svc.CodeVersionDestroyed, "the version is being destroyed")

// Destroy deletes a version: it ends a running deploy or wake, stops the runtime,
// and deletes data, logs and bundle. It returns the tombstone, also if the version
// is destroyed already. Cleanup deletes what cannot be deleted now; children keep
// the data that they forked.
//
// Errors: Conflict, version_is_production or promote_in_progress; NotFound.
// spec: [C9.10] [D22].
func (s *Service) Destroy(ctx context.Context, ref svc.Ref) (svc.Version, error) {
	v, err := s.deps.Versions.Version(ctx, ref)
	if err == nil {
		err = destroyable(v)
	}
	if err != nil {
		return svc.Version{}, err
	}
	if err := s.wakes.Cancel(ctx, ref, errDestroying); err != nil {
		return svc.Version{}, err
	}
	if err := s.archiving.Interrupt(ctx, ref, errDestroying); err != nil {
		return svc.Version{}, err
	}
	ctx, end, err := s.begin(ctx, ref)
	if err != nil {
		return svc.Version{}, err
	}
	defer end()
	if v, err = s.deps.Versions.Version(ctx, ref); err != nil {
		return svc.Version{}, err
	}
	if v.Status != svc.StatusDestroyed {
		if err := s.markDestroyed(ctx, v); err != nil {
			return svc.Version{}, err
		}
	}
	s.purge(ctx, ref)
	return s.deps.Versions.Version(ctx, ref)
}

// destroyable returns an error for a version that is production or draining.
func destroyable(v svc.Version) error {
	switch {
	case v.Production:
		return isProduction(v.Ref, "destroyed")
	case v.Status == svc.StatusDraining:
		return isDraining(v.Ref)
	}
	return nil
}

// markDestroyed moves the version to destroyed. Its id cannot be used again, and a
// running deploy of it ends.
func (s *Service) markDestroyed(ctx context.Context, v svc.Version) error {
	if err := destroyable(v); err != nil {
		return err
	}
	failpoint.Hit("lifecycle/destroy/started")
	detail := ""
	if v.Status.InDeploy() {
		detail = "the version was destroyed"
	}
	if _, err := s.deps.Versions.Move(ctx, v.Ref, svc.TriggerDestroy, svc.Change{Detail: detail}); err != nil {
		return err
	}
	failpoint.Hit("lifecycle/destroy/moved")
	s.deps.Routes.StatusChanged(v.Ref, svc.StatusDestroyed)
	s.leavePreview(ctx, v)
	s.logger(v.Ref).InfoContext(ctx, "version destroyed", "was", string(v.Status))
	return nil
}

// leavePreview gives the host name of a preview name to another version of the name, if
// there is one.
func (s *Service) leavePreview(ctx context.Context, v svc.Version) {
	if v.PreviewName == "" || s.deps.Previews == nil {
		return
	}
	if err := s.deps.Previews.Publish(ctx, v.Project, v.PreviewName); err != nil {
		s.logger(v.Ref).ErrorContext(ctx, "routing a preview failed; its host name still names a destroyed version", "preview", v.PreviewName, "error", err)
	}
}

// purge stops the runtime of a destroyed version and deletes its data and files. A
// failure is logged and retried by Cleanup and at the next start.
func (s *Service) purge(ctx context.Context, ref svc.Ref) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.deps.PurgeLimit, errPurgeLimit)
	defer cancel()
	if err := s.tryPurge(ctx, ref); err != nil {
		s.logger(ref).WarnContext(ctx, "purging a destroyed version failed; retrying at the next cleanup", "error", err)
	}
}

func (s *Service) tryPurge(ctx context.Context, ref svc.Ref) error {
	if err := s.deps.Runtimes.Stop(ctx, ref); err != nil {
		return err
	}
	failpoint.Hit("lifecycle/destroy/stopped")
	s.deps.Routes.RemoveRoutes(ref)
	if err := s.deps.Data.Destroy(ctx, ref); err != nil {
		return err
	}
	failpoint.Hit("lifecycle/destroy/emptied")
	if err := s.deps.Runtimes.Purge(ctx, ref); err != nil {
		return err
	}
	failpoint.Hit("lifecycle/destroy/removed")
	return s.deps.Inventory.MarkPurged(ctx, ref)
}
