package preview

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"golang.org/x/sync/errgroup"

	"github.com/svcctl/svcctl/internal/lib/service"
	"github.com/svcctl/svcctl/internal/svc"
)

// archiveParallel is the number of replaced versions that are archived at one time.
const archiveParallel = 4

// Records reads previews in the registry.
type Records interface {
	ListPreviews(ctx context.Context, project string, req svc.PageRequest) (svc.Page[svc.Preview], error)
	Preview(ctx context.Context, project, name string) (svc.Preview, error)
	// PreviewVersion returns the version of a preview's host name, "" for none.
	PreviewVersion(ctx context.Context, project, name string) (string, error)
	VersionsOfPreview(ctx context.Context, project, name string) ([]svc.Version, error)
	// Replaced returns the versions to archive.
	Replaced(ctx context.Context) ([]svc.Ref, error)
}

// Gateway routes the host names.
type Gateway interface {
	SetPreview(project, name, version string)
	HoldPreview(project, name string)
	ReleasePreview(project, name string)
}

// Verbs archives and destroys versions.
type Verbs interface {
	Archive(ctx context.Context, ref svc.Ref) (svc.Version, error)
	Destroy(ctx context.Context, ref svc.Ref) (svc.Version, error)
}

// Service moves the host names of previews. It is safe for concurrent use.
type Service struct {
	Records
	gateway Gateway
	verbs   Verbs
	log     *slog.Logger
	work    service.Work
}

// New returns a Service. It starts nothing.
func New(records Records, gateway Gateway, verbs Verbs, log *slog.Logger) *Service {
	return &Service{Records: records, gateway: gateway, verbs: verbs, log: log}
}

// Stop accepts no more work and waits for archives in progress. When ctx ends, it
// cancels them; the janitor of the next process repeats them.
func (s *Service) Stop(ctx context.Context) error { return s.work.Stop(ctx) }

// Hold makes the requests to a name wait until release.
func (s *Service) Hold(project, name string) (release func()) {
	s.gateway.HoldPreview(project, name)
	return func() { s.gateway.ReleasePreview(project, name) }
}

// Publish routes the host name of a name to its version, or removes it. Idempotent.
func (s *Service) Publish(ctx context.Context, project, name string) error {
	id, err := s.PreviewVersion(ctx, project, name)
	if err != nil {
		return err
	}
	s.gateway.SetPreview(project, name, id)
	return nil
}

// Switched archives, in the background, the versions that were replaced.
func (s *Service) Switched(ctx context.Context) {
	_ = s.work.Go(ctx, func(ctx context.Context) { // the next process archives them if this one stops
		if err := s.Tidy(ctx); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "archiving replaced versions of previews failed; retrying at the next cleanup", "error", err)
		}
	})
}

// Tidy archives the versions that a newer version of their name has replaced, beyond
// the number that it keeps. It tries all of them and joins the errors.
func (s *Service) Tidy(ctx context.Context) error {
	refs, err := s.Replaced(ctx)
	if err != nil {
		return err
	}
	errs := make([]error, len(refs))
	var archives errgroup.Group
	archives.SetLimit(archiveParallel)
	for i, ref := range refs {
		archives.Go(func() error {
			_, err := s.verbs.Archive(ctx, ref)
			if errors.Is(err, svc.Conflict) || errors.Is(err, svc.Gone) || errors.Is(err, svc.NotFound) {
				return nil // promoted, archived or destroyed meanwhile
			}
			errs[i] = err
			return nil
		})
	}
	_ = archives.Wait() // no archive is an error here
	return errors.Join(errs...)
}

// Delete destroys every version of a name, and its host name with the last of them. It
// returns the preview as it was.
//
// Errors: NotFound, project_not_found or preview_not_found; Conflict,
// version_is_production or promote_in_progress.
func (s *Service) Delete(ctx context.Context, project, name string) (svc.Preview, error) {
	p, err := s.Preview(ctx, project, name)
	if err != nil {
		return svc.Preview{}, err
	}
	versions, err := s.VersionsOfPreview(ctx, project, name)
	if err != nil {
		return svc.Preview{}, err
	}
	for _, v := range versions { // before any is destroyed
		if v.Production {
			return svc.Preview{}, svc.Errorf(svc.Conflict, svc.CodeVersionIsProduction, "version %s of preview %s is production: the preview cannot be deleted", v.Version, name).
				WithHint("promote another version first")
		}
	}
	for _, v := range versions {
		if _, err := s.verbs.Destroy(ctx, v.Ref); err != nil {
			return svc.Preview{}, fmt.Errorf("deleting preview %s of %s: %w", name, project, err)
		}
	}
	s.log.InfoContext(ctx, "preview deleted", "project", project, "preview", name, "versions", len(versions))
	return p, nil
}
