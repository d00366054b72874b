package sleep

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// PageOutIdle moves the memory of versions to swap that were not asked and not at work for
// PageOutAfter, once until they are used again. Their processes continue to serve. It returns
// the errors of all versions that failed.
func (s *Service) PageOutIdle(ctx context.Context) error {
	var errs []error
	moved := map[svc.Ref]time.Time{}
	for _, r := range s.cfg.Hosts.Runtimes() {
		if at, ok := s.pagedOut[r.Ref]; ok && !s.lastUse(r).After(at) {
			moved[r.Ref] = at
			continue
		}
		if r.State != svc.RuntimeServing || s.isUsed(r, s.cfg.PageOutAfter) || ctx.Err() != nil {
			continue
		}
		switch done, err := s.cfg.Hosts.PageOut(ctx, r.Ref); {
		case err == nil:
			moved[r.Ref] = time.Now()
			s.cfg.Observer.PagedOut(done)
			s.cfg.Logger.DebugContext(ctx, "version paged out", "project", r.Ref.Project, "version", r.Ref.Version, "way", done.Way, "bytes", done.Bytes)
		case !errors.Is(err, svc.Unavailable): // it has not ended meanwhile
			errs = append(errs, fmt.Errorf("paging out the idle version %s: %w", r.Ref, err))
		}
	}
	s.pagedOut = moved
	return errors.Join(errs...)
}
