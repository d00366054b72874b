package binding

import (
	"context"
	"maps"

	"github.com/svcctl/svcctl/internal/data/volume"
)

// Unfinisher is a Kind whose resources have work that outlives a request and that a release moves,
// such as the instances of workflows.
type Unfinisher interface {
	Kind
	// Unfinished counts the work that has not ended, by resource. It counts that of resources which
	// the version does not declare, too: a release moves the work of the version before it.
	Unfinished(ctx context.Context, v volume.Volumes) (map[string]int, error)
}

// Unfinished counts the work that a release moves, by resource: the unfinished instances of
// workflows, by workflow. It writes nothing.
func (s *Set) Unfinished(ctx context.Context) (map[string]int, error) {
	all := map[string]int{}
	for _, k := range s.kinds {
		u, ok := k.(Unfinisher)
		if !ok {
			continue
		}
		some, err := u.Unfinished(ctx, s.volumes)
		if err != nil {
			return nil, err
		}
		maps.Copy(all, some)
	}
	return all, nil
}
