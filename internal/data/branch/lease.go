package branch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/svc"
)

// leaseRecord is hosts/{node}.json.
type leaseRecord struct {
	V        int    `json:"v"`
	Session  string `json:"session"`
	Seq      uint64 `json:"seq"` // grows with each renewal: a change shows that the node is alive
	Released bool   `json:"released,omitempty"`
}

// Lease shows other nodes that this node is alive. It protects nothing: a node
// that cannot renew its lease continues, until a log fences it.
type Lease struct {
	store *Store
	owner svc.Owner
	lost  chan struct{}
	stop  context.CancelFunc
	done  chan struct{}

	mu      sync.Mutex
	rec     leaseRecord
	etag    string
	renewed time.Time
}

// Hold takes the lease of o's node, from an older session of the node if there
// was one, and renews it until Stop or until ctx ends.
func (s *Store) Hold(ctx context.Context, o svc.Owner) (*Lease, error) {
	if o.Node == "" || o.Session == "" {
		return nil, errors.New("hold lease: want an owner with a node and a session")
	}
	l := &Lease{store: s, owner: o, lost: make(chan struct{}), done: make(chan struct{})}
	for {
		old, etag, err := s.lease(ctx, o.Node)
		if err != nil {
			return nil, err
		}
		l.rec, l.etag = leaseRecord{V: manifestVersion, Session: o.Session, Seq: old.Seq}, etag
		err = l.renew(ctx)
		if errors.Is(err, ErrLost) {
			continue // it was renewed in between
		}
		if err != nil {
			return nil, err
		}
		break
	}
	ctx, l.stop = context.WithCancel(ctx)
	go l.run(ctx)
	return l, nil
}

// Lost is closed when another session took the lease of this node: two processes
// use the same node identity, and this one must stop.
func (l *Lease) Lost() <-chan struct{} { return l.lost }

// Age is the time since the last renewal, for health reports.
func (l *Lease) Age() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Since(l.renewed)
}

// Stop ends the renewals and marks the lease as released, so that other nodes
// need not wait. The caller releases every version before. Idempotent.
func (l *Lease) Stop(ctx context.Context) error {
	l.stop()
	<-l.done
	l.mu.Lock()
	released := l.rec.Released
	l.rec.Released = true
	l.mu.Unlock()
	if released {
		return nil
	}
	if err := l.renew(ctx); !errors.Is(err, ErrLost) {
		return err
	}
	return nil
}

func (l *Lease) run(ctx context.Context) {
	defer close(l.done)
	ticker := time.NewTicker(l.store.ttl / 3)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		attempt, cancel := context.WithTimeout(ctx, l.store.ttl)
		err := l.renew(attempt)
		cancel()
		switch {
		case errors.Is(err, ErrLost):
			close(l.lost)
			return
		case err != nil && ctx.Err() == nil:
			l.store.log.WarnContext(ctx, "node lease renewal failed; retrying", "node", l.owner.Node, "error", err)
		}
	}
}

// renew replaces the lease that this session wrote last.
func (l *Lease) renew(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	started := time.Now()
	next := l.rec
	next.Seq++
	data, err := json.Marshal(next)
	if err != nil {
		return fmt.Errorf("encode lease: %w", err)
	}
	cond := objstore.Condition{IfMatch: l.etag, IfAbsent: l.etag == ""}
	info, err := objstore.SettleBytes(ctx, l.store.manifests, leaseKey(l.owner.Node), data, cond)
	if errors.Is(err, objstore.ErrPrecondition) {
		return fmt.Errorf("renew lease of node %s: %w", l.owner.Node, ErrLost)
	}
	if err != nil {
		return fmt.Errorf("renew lease of node %s: %w", l.owner.Node, err)
	}
	l.rec, l.etag, l.renewed = next, info.ETag, started
	return nil
}

// lease reads the lease of a node: the zero record when it does not exist.
func (s *Store) lease(ctx context.Context, node string) (rec leaseRecord, etag string, err error) {
	data, info, err := objstore.Read(ctx, s.manifests, leaseKey(node), 0, -1)
	if errors.Is(err, objstore.ErrNotExist) {
		return leaseRecord{}, "", nil
	}
	if err == nil {
		err = json.Unmarshal(data, &rec)
	}
	if err != nil {
		return leaseRecord{}, "", fmt.Errorf("read lease of node %s: %w", node, err)
	}
	return rec, info.ETag, nil
}

// awaitExpiry returns when the session of o has ended: its lease is released,
// belongs to a newer session, or was not renewed for the TTL, by the clock of this
// process. It keeps waiting while the object store does not answer.
func (s *Store) awaitExpiry(ctx context.Context, o svc.Owner) error {
	var seen leaseRecord
	since := time.Now()
	ticker := time.NewTicker(s.ttl / 10)
	defer ticker.Stop()
	for first := true; ; first = false {
		asked := time.Now()
		rec, etag, err := s.lease(ctx, o.Node)
		switch {
		case err != nil && ctx.Err() == nil:
			s.log.WarnContext(ctx, "node lease read failed; retrying", "node", o.Node, "error", err)
		case err != nil:
		case etag == "" || rec.Released || rec.Session != o.Session:
			return nil
		case first || rec != seen:
			seen, since = rec, time.Now()
		case asked.Sub(since) >= s.ttl:
			return nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
