package branch

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/svcctl/svcctl/internal/objstore"
)

// Projects names the projects of which anything is stored, and maybe what else
// lies beside them, in order: one request for each.
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

// Grace is how long what nobody needs stays.
func (s *Store) Grace() time.Duration { return s.grace }

// Keep is how long a superseded file may be planned with, for replica.Config:
// far shorter than the grace, after which it is deleted.
func (s *Store) Keep() time.Duration { return min(s.grace/4, 10*time.Minute) }
