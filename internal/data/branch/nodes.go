package branch

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/svc"
)

// Node is a node that has, or had, a lease.
type Node struct {
	Owner    svc.Owner
	Released bool
	Renewed  time.Time // by the clock of the object store
}

// TTL is how long a lease that is not renewed keeps the versions of its node.
func (s *Store) TTL() time.Duration { return s.ttl }

// Nodes reads the leases of all nodes, in the order of their names.
func (s *Store) Nodes(ctx context.Context) (list []Node, err error) {
	err = objstore.Each(ctx, s.manifests, leasePrefix, func(info objstore.Info) error {
		name, ok := strings.CutSuffix(strings.TrimPrefix(info.Key, leasePrefix), leaseSuffix)
		if !ok {
			return nil
		}
		rec, etag, err := s.lease(ctx, name)
		if err != nil || etag == "" { // deleted meanwhile
			return err
		}
		list = append(list, Node{svc.Owner{Node: name, Session: rec.Session}, rec.Released, info.Modified})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	return list, nil
}

// Changed is when the record was stored, by the clock of the object store.
func (r *Record) Changed() time.Time { return r.changed }
