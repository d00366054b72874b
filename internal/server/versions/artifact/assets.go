package artifact

import (
	"context"
	"io"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/svc"
)

// Announce returns the hashes of those static files of a version that have to be
// uploaded. Errors are those of Accept about the ticket and the version, and of
// Assets.Announce.
func (s *Service) Announce(ctx context.Context, ticket string, files []bundle.File) (missing []string, err error) {
	ref, err := s.awaited(ctx, ticket)
	if err != nil {
		return nil, err
	}
	return s.cfg.Assets.Announce(ctx, ref, files)
}

// AcceptAssets stores an archive of announced files. Errors are those of Accept about the
// ticket and the version, and of Assets.Accept.
func (s *Service) AcceptAssets(ctx context.Context, ticket string, archive io.Reader) (svc.AssetsReceipt, error) {
	ref, err := s.awaited(ctx, ticket)
	if err != nil {
		return svc.AssetsReceipt{}, err
	}
	return s.cfg.Assets.Accept(ctx, ref, archive)
}

// awaited returns the version of a ticket, whose deploy has not ended.
func (s *Service) awaited(ctx context.Context, ticket string) (svc.Ref, error) {
	ref, err := s.check(ticket, time.Now())
	if err != nil {
		return ref, err
	}
	v, err := s.wanted(ctx, ref)
	if err == nil && !v.Status.InDeploy() {
		err = svc.Errorf(svc.Conflict, svc.CodeAlreadyUploaded, "%s is deployed", ref).WithHint("create another version to deploy other files")
	}
	return ref, err
}
