package supervisor

import (
	"context"

	"github.com/svcctl/svcctl/internal/svc"
)

// PageOut moves the memory of a runtime that serves to swap. The runtime continues: what it needs
// comes back by itself. Without swap nothing is moved. Errors: Unavailable for a runtime that
// does not serve.
func (s *Supervisor) PageOut(ctx context.Context, ref svc.Ref) (svc.PagedOut, error) {
	p, err := s.serving(ref)
	if err != nil {
		return svc.PagedOut{}, err
	}
	return p.Client().PageOut(ctx)
}
