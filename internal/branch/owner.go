package branch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// Owner is who asks to write. Host is an identity kept in the data directory
// under its lock, so a new session of a host knows the old one is dead;
// Session is of one process.
type Owner struct {
	Host    string `json:"host"`
	Session string `json:"session"`
}

// Grant is the right to write the data of a version, until the record changes.
type Grant struct {
	Version svc.Ref
	Owner   Owner
	Epoch   uint64
	// Took says that another host owned the data and had not let go: it may still
	// believe that it does, so the right must be proven by Seal. It stays so until
	// the data is let go.
	Took bool
	// New says that nobody ever owned the data before.
	New bool
	// Verified is what the last Archive proved, see Record.
	Verified map[string]uint64
}

// Acquire makes o the owner of v and wakes it if it was archived. An owner on
// another host is waited for until it lets go or its lease has not been renewed
// for the whole TTL, by the clock of this process alone; ctx bounds the wait.
// The right is proven only by Seal. parent is for a record that must be made.
func (s *Store) Acquire(ctx context.Context, v svc.Ref, o Owner, parent string) (Grant, error) {
	if o.Host == "" || o.Session == "" {
		return Grant{}, errors.New("acquire: an owner has a host and a session")
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
			return Grant{}, svc.Errorf(svc.Gone, "version_destroyed", "the data of version %s was destroyed", v)
		}
		took := r.Owner != "" && r.Owner != o.Host
		if took {
			if err := s.awaitDeath(ctx, Owner{r.Owner, r.Session}); err != nil {
				return Grant{}, fmt.Errorf("version %s is owned by host %s: %w", v, r.Owner, err)
			}
		}
		took = took || r.Took // by an earlier session, which need not have sealed every log
		next := Record{
			State: StateLive, Parent: r.Parent, Epoch: r.Epoch + 1, Owner: o.Host, Session: o.Session, Took: took, Verified: r.Verified,
		}
		err = s.change(ctx, v, present(r), next)
		if errors.Is(err, ErrLost) {
			continue // somebody else was faster: look again
		}
		return Grant{v, o, next.Epoch, took, r.Epoch == 0, r.Verified}, err
	}
}

// present is r, or nil when it was never stored.
func present(r *Record) *Record {
	if r.etag == "" {
		return nil
	}
	return r
}

// Holds asks the store whether g is still good: nil, or ErrLost.
func (s *Store) Holds(ctx context.Context, g Grant) error {
	_, err := s.held(ctx, g)
	return err
}

func (s *Store) held(ctx context.Context, g Grant) (*Record, error) {
	r, err := s.Record(ctx, g.Version)
	if err != nil {
		return nil, err
	}
	if r == nil || r.Epoch != g.Epoch || r.Owner != g.Owner.Host || r.Session != g.Owner.Session {
		return nil, fmt.Errorf("version %s, epoch %d: %w", g.Version, g.Epoch, ErrLost)
	}
	return r, nil
}

// Release gives up g. The version stays live: whoever serves it next acquires
// it. Having lost it already is no error.
func (s *Store) Release(ctx context.Context, g Grant) error {
	if err := s.letGo(ctx, g, Record{State: StateLive, Verified: g.Verified}); !errors.Is(err, ErrLost) {
		return err
	}
	return nil
}

// Archive gives up g and says that all there is of the version is in the
// store: ship, compact and verify before, and say what was verified, and what a
// fork would begin with. ErrLost when it was not g's any more.
func (s *Store) Archive(ctx context.Context, g Grant, verified map[string]uint64, cuts map[string]Cut) error {
	next := Record{State: StateArchived, Verified: verified}
	if len(cuts) > 0 {
		next.Cut = &Manifest{Parent: g.Version, At: time.Now(), Stores: cuts}
		if err := next.Cut.check(); err != nil {
			return fmt.Errorf("archive %s: %w", g.Version, err)
		}
	}
	return s.letGo(ctx, g, next)
}

func (s *Store) letGo(ctx context.Context, g Grant, next Record) error {
	r, err := s.held(ctx, g)
	if err != nil {
		return err
	}
	next.Parent, next.Epoch = r.Parent, r.Epoch
	return s.change(ctx, g.Version, r, next)
}

// Seal proves g: win opens the logs, restores them, and appends a first
// transaction to each. It returns ErrFenced when a slot was taken, by an old
// owner's last write; then Seal calls it again, from the new end of the logs,
// as long as g is still good.
func (s *Store) Seal(ctx context.Context, g Grant, win func(context.Context) error) error {
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
