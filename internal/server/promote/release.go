package promote

import (
	"context"
	"errors"

	"github.com/svcctl/svcctl/internal/svc"
)

// Release starts to put the code of a candidate on the data of production.
func (s *Service) Release(context.Context, svc.Ref, svc.ReleaseRequest) (svc.Promotion, error) {
	return svc.Promotion{}, errors.New("not built yet")
}
