package branch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/svc"
)

// State is the state of a version's data.
type State string

// The states of a version's data.
const (
	StateLive       State = "live"       // may have an owner
	StateArchived   State = "archived"   // complete in the object store, without an owner
	StateDestroying State = "destroying" // wanted only as far as children pin it; final
)

// Record is version.json.
type Record struct {
	V       int    `json:"v"`
	State   State  `json:"state"`
	Parent  string `json:"parent,omitempty"` // version ID
	Epoch   uint64 `json:"epoch"`            // grows with each change of owner
	Owner   string `json:"owner,omitempty"`  // node; "" for none
	Session string `json:"session,omitempty"`
	// TakenOver says that Owner took the data from a node that had not released it, see Grant.
	TakenOver bool `json:"took,omitempty"`
	// Verified are the transactions, by database, that Archive found restorable.
	Verified map[string]uint64 `json:"verified,omitempty"`
	// Cut is what forks of an archived version begin with, so that they need not
	// list its logs: a manifest whose Parent is the version. Sweeps keep the files
	// that it names, even those in dead lists.
	Cut *Manifest `json:"cut,omitempty"`

	etag    string
	changed time.Time
}

// Record reads the record of a version. It returns nil when the version was never
// opened.
func (s *Store) Record(ctx context.Context, v svc.Ref) (*Record, error) {
	data, info, err := objstore.Read(ctx, s.manifests, versionKey(v), 0, -1)
	if errors.Is(err, objstore.ErrNotExist) {
		return nil, nil // never opened
	}
	if err != nil {
		return nil, fmt.Errorf("read record of %s: %w", v, err)
	}
	r := &Record{etag: info.ETag, changed: info.Modified}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("read record of %s: %w", v, err)
	}
	if r.V != manifestVersion {
		return nil, fmt.Errorf("read record of %s: it has format %d; this program reads %d", v, r.V, manifestVersion)
	}
	return r, nil
}

// change replaces the record old, nil for none, by next. It returns ErrLost when
// the record was modified concurrently.
func (s *Store) change(ctx context.Context, v svc.Ref, old *Record, next Record) error {
	next.V = manifestVersion
	data, err := json.Marshal(next)
	if err != nil {
		return fmt.Errorf("encode record of %s: %w", v, err)
	}
	cond := objstore.Condition{IfAbsent: true}
	if old != nil {
		cond = objstore.Condition{IfMatch: old.etag}
	}
	_, err = objstore.SettleBytes(ctx, s.manifests, versionKey(v), data, cond)
	if errors.Is(err, objstore.ErrPrecondition) {
		return fmt.Errorf("change record of %s: %w", v, ErrLost)
	}
	if err != nil {
		return fmt.Errorf("change record of %s: %w", v, err)
	}
	return nil
}

// Destroy marks the data of a version for deletion by Sweep, and revokes its
// ownership: the owner gets ErrLost. Idempotent.
func (s *Store) Destroy(ctx context.Context, v svc.Ref) error {
	for {
		r, err := s.Record(ctx, v)
		if err != nil || r != nil && r.State == StateDestroying {
			return err
		}
		next := Record{State: StateDestroying, Epoch: 1}
		if r != nil {
			next.Parent, next.Epoch = r.Parent, r.Epoch+1
		}
		if err := s.change(ctx, v, r, next); !errors.Is(err, ErrLost) {
			return err
		}
	}
}
