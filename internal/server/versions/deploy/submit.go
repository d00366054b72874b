package deploy

import (
	"context"
	"errors"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// Submit creates a version with status pending and queues its job. A repeat of the
// same request returns the existing record [D9].
// Errors: Unprocessable for a field or the parent, NotFound project_not_found,
// Conflict version_exists, Unavailable queue_full.
// spec: [C7.12] [C13.7] [C13.8].
func (s *Service) Submit(ctx context.Context, n svc.NewVersion, o svc.SubmitOptions) (svc.Version, error) {
	if err := n.Validate(); err != nil {
		return svc.Version{}, err
	}
	if err := s.ReadOnlyChanged(ctx, n.Project); err != nil { // a project that was deleted begins anew
		return svc.Version{}, err
	}
	if err := s.checkHost(n); err != nil {
		return svc.Version{}, err
	}
	if err := s.bundleFrom(ctx, &n); err != nil {
		return svc.Version{}, err
	}
	if !n.ParentAt.IsZero() && !s.deps.History {
		return svc.Version{}, svc.HistoryOff().At("/parent_at")
	}
	v, created, err := s.deps.Submissions.CreateVersion(ctx, n, svc.CreateOptions{SubmitOptions: o, QueueMax: s.deps.QueueMax, Forks: s.deps.Forks})
	if err != nil {
		return svc.Version{}, err
	}
	if n.BundleFrom != "" && v.Status.InDeploy() { // a repeat copies it again: the first request may have ended before
		if err := s.bundles.copy(ctx, s.deps.Artifacts, svc.Ref{Project: n.Project, Version: n.BundleFrom}, v.Ref); err != nil {
			return svc.Version{}, err
		}
		s.ArtifactArrived(v.Ref) // the job may wait for it
	}
	if created {
		s.routes.announce(v, false)
		s.deps.Notify()
	}
	return v, nil
}

// bundleFrom gives a version that has the bundle of another one its digest.
func (s *Service) bundleFrom(ctx context.Context, n *svc.NewVersion) error {
	if n.BundleFrom == "" {
		return nil
	}
	from, err := s.deps.Versions.Version(ctx, svc.Ref{Project: n.Project, Version: n.BundleFrom})
	switch {
	case errors.Is(err, svc.NotFound), err == nil && from.Status == svc.StatusDestroyed:
		return svc.Errorf(svc.Unprocessable, svc.CodeBundleFromUnknown, "version %s, whose bundle is asked for, does not exist", n.BundleFrom).At("/bundle_from").
			WithHint("name a version of the project %s that is not destroyed", n.Project)
	case err != nil:
		return err
	case n.Digest != "" && from.Digest != "" && n.Digest != from.Digest:
		return svc.Errorf(svc.Unprocessable, svc.CodeDigestMismatch, "the bundle of %s has the digest %s, not %s", n.BundleFrom, from.Digest, n.Digest).At("/artifact_digest")
	}
	n.Digest = from.Digest
	return nil
}

// checkHost rejects a version whose preview host name is not a valid DNS name [D3].
func (s *Service) checkHost(n svc.NewVersion) error {
	id := n.ID
	if id == "" {
		id = svc.GeneratedID(time.Now()) // generated ids have one length
	}
	if err := s.deps.Ingress.CheckHost(svc.Ref{Project: n.Project, Version: id}); err != nil {
		return svc.AsError(err).At("/id")
	}
	if n.Preview.Name == "" {
		return nil
	}
	if err := s.deps.Ingress.CheckHost(svc.Ref{Project: n.Project, Version: n.Preview.Name}); err != nil {
		return svc.AsError(err).At("/preview_name")
	}
	return nil
}
