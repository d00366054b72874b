package branch

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/svcctl/svcctl/internal/data/objstore"
)

// Projects lists the top-level prefixes of the buckets, in order: every project
// with data, and possibly prefixes that are no project. It makes one request for
// each.
func (s *Store) Projects(ctx context.Context) ([]string, error) {
	names, err := objstore.Roots(ctx, s.data)
	if err == nil && s.manifests != s.data {
		var more []string
		more, err = objstore.Roots(ctx, s.manifests)
		names = append(names, more...)
	}
	if err != nil {
		return nil, fmt.Errorf("list projects: %w", err)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// Grace is how long an unneeded object stays.
func (s *Store) Grace() time.Duration { return s.grace }

// Keep is how long plans may use a superseded file, for replica.Config: far
// shorter than the grace, after which the file is deleted.
func (s *Store) Keep() time.Duration { return min(s.grace/4, 10*time.Minute) }
