package branch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// Grant is the right to write the data of a version, until the record changes.
type Grant struct {
	Version svc.Ref
	Owner   svc.Owner
	Epoch   uint64
	// TakenOver says that another node owned the data and had not released it. That
	// node may still write, so the owner must Claim the logs. It stays set until the
	// data is released.
	TakenOver bool
	// Unreleased says that an earlier process of this node owned the data and had not
	// released it. A request that it sent may still arrive.
	Unreleased bool
	// New says that the data has never had an owner before.
	New bool
	// Verified is what the last Archive verified, see Record.
	Verified map[string]uint64
}

// Acquire makes o the owner of v, and the data live if it was archived. When
// another node owns v, Acquire waits until that node releases it or has not
// renewed its lease for the whole TTL, by the clock of this process alone; ctx
// bounds the wait. Between machines of one daemon there is no wait: the daemon decides
// which of them has the version. After a takeover (Grant.TakenOver) only Claim fences the old
// owner. parent is the version's parent, for a record that does not exist yet.
func (s *Store) Acquire(ctx context.Context, v svc.Ref, o svc.Owner, parent string) (Grant, error) {
	if o.Node == "" || o.Session == "" {
		return Grant{}, errors.New("acquire: want an owner with a node and a session")
	}
	for {
		r, err := s.Record(ctx, v)
		if err != nil {
			return Grant{}, err
		}
		if r == nil {
			r = &Record{Parent: parent}
		}
		if r.State == StateDestroying {
			return Grant{}, svc.Errorf(svc.Gone, svc.CodeVersionDestroyed, "the data of version %s was destroyed", v)
		}
		takeover := r.Owner != "" && r.Owner != o.Node
		if daemon := svc.DaemonOf(r.Owner); takeover && daemon != svc.DaemonOf(o.Node) {
			if err := s.awaitExpiry(ctx, svc.Owner{Node: daemon, Session: r.Session}); err != nil {
				return Grant{}, fmt.Errorf("version %s is owned by node %s: %w", v, r.Owner, err)
			}
		}
		takeover = takeover || r.TakenOver // an earlier session may not have claimed every log
		next := Record{
			State: StateLive, Parent: r.Parent, Epoch: r.Epoch + 1, Owner: o.Node, Session: o.Session, TakenOver: takeover, Verified: r.Verified,
		}
		err = s.change(ctx, v, present(r), next)
		if errors.Is(err, ErrLost) {
			continue // the record was modified concurrently: read it again
		}
		return Grant{
			Version: v, Owner: o, Epoch: next.Epoch, TakenOver: takeover, Unreleased: r.Owner == o.Node, New: r.Epoch == 0, Verified: r.Verified,
		}, err
	}
}

// present is r, or nil when r was never stored.
func present(r *Record) *Record {
	if r.etag == "" {
		return nil
	}
	return r
}

// Holds checks in the object store that g is still valid. It returns ErrLost when
// it is not.
func (s *Store) Holds(ctx context.Context, g Grant) error {
	_, err := s.held(ctx, g)
	return err
}

func (s *Store) held(ctx context.Context, g Grant) (*Record, error) {
	r, err := s.Record(ctx, g.Version)
	if err != nil {
		return nil, err
	}
	if r == nil || r.Epoch != g.Epoch || r.Owner != g.Owner.Node || r.Session != g.Owner.Session {
		return nil, fmt.Errorf("version %s, epoch %d: %w", g.Version, g.Epoch, ErrLost)
	}
	return r, nil
}

// Release ends g. The data stays live, for the next owner to acquire. Release
// returns nil when g was lost already.
func (s *Store) Release(ctx context.Context, g Grant) error {
	if err := s.release(ctx, g, Record{State: StateLive, Verified: g.Verified}); !errors.Is(err, ErrLost) {
		return err
	}
	return nil
}

// Archive ends g and records that all data of the version is in the object store.
// The caller has shipped, compacted and verified it; verified are the verified
// transactions, and cuts are what forks begin with. Archive returns ErrLost when
// g is no longer valid.
func (s *Store) Archive(ctx context.Context, g Grant, verified map[string]uint64, cuts map[string]Cut) error {
	next := Record{State: StateArchived, Verified: verified}
	if len(cuts) > 0 {
		next.Cut = &Manifest{Parent: g.Version, At: time.Now(), Databases: cuts}
		if err := next.Cut.check(); err != nil {
			return fmt.Errorf("archive %s: %w", g.Version, err)
		}
	}
	return s.release(ctx, g, next)
}

func (s *Store) release(ctx context.Context, g Grant, next Record) error {
	r, err := s.held(ctx, g)
	if err != nil {
		return err
	}
	next.Parent, next.Epoch = r.Parent, r.Epoch
	return s.change(ctx, g.Version, r, next)
}

// Claim fences the previous owner, or what an earlier process of the same node has
// sent: win opens the logs, restores them, and appends a first transaction to each.
// When win returns ErrFenced, because a late write took the slot, Claim calls it
// again, from the new end of the logs, as long as g is valid.
func (s *Store) Claim(ctx context.Context, g Grant, win func(context.Context) error) error {
	for {
		err := win(ctx)
		if !errors.Is(err, ErrFenced) {
			return err
		}
		if lost := s.Holds(ctx, g); lost != nil {
			return errors.Join(lost, err)
		}
		if ctx.Err() != nil {
			return errors.Join(context.Cause(ctx), err)
		}
	}
}
