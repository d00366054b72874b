package deploy

import (
	"context"
	"errors"

	"github.com/svcctl/svcctl/internal/svc"
)

// KeepHistory is how long the points of a project are kept: as the bundle of its production says, at most
// most. No other version is asked: else a pull request could end the history.
func (s *Service) KeepHistory(ctx context.Context, project string, most svc.History) (svc.History, error) {
	p, err := s.deps.Submissions.Project(ctx, project)
	if errors.Is(err, svc.NotFound) || err == nil && p.ProdVersionID == "" {
		return most, nil
	}
	if err != nil {
		return svc.History{}, err
	}
	m, err := s.Manifest(ctx, svc.Ref{Project: project, Version: p.ProdVersionID})
	return m.History(most), err
}
