package branch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/objstore"
	"github.com/svcctl/svcctl/internal/svc"
)

// ErrFenced says that another writer owns the log: it created the slot this
// writer wanted. A fenced writer stops at once, acknowledges nothing more, and
// drops its local copy.
var ErrFenced = errors.New("another writer owns the log")

// ErrLost says that a version is no longer this owner's: its record moved on.
var ErrLost = errors.New("ownership was lost")

// Config is what a Store needs.
type Config struct {
	Data      objstore.Bucket // logs, blobs and dead lists
	Manifests objstore.Bucket // records, manifests and leases; Data when nil
	Grace     time.Duration   // how long a dead name stays, 1 h when 0; far longer than a fork and a lease
	LeaseTTL  time.Duration   // 15 s, or a quarter of a shorter grace, when 0; renewed every third of it
	Logger    *slog.Logger
}

// Store reads and writes the records of versions in a bucket.
type Store struct {
	data, manifests objstore.Bucket
	grace, ttl      time.Duration
	log             *slog.Logger
}

// New makes a Store; it sends no request.
func New(c Config) (*Store, error) {
	if c.Data == nil || c.Logger == nil {
		return nil, errors.New("branch: a data bucket and a logger are required")
	}
	if c.Manifests == nil {
		c.Manifests = c.Data
	}
	s := &Store{
		data: c.Data, manifests: c.Manifests, log: c.Logger,
		grace: cmp.Or(c.Grace, time.Hour),
	}
	s.ttl = cmp.Or(c.LeaseTTL, min(15*time.Second, s.grace/4))
	if s.grace < 4*s.ttl {
		return nil, fmt.Errorf("branch: a grace of %v is too short for leases of %v", s.grace, s.ttl)
	}
	return s, nil
}

// Fork is what a child starts from. ID names this attempt to fork: calling
// again with the same ID is a retry.
type Fork struct {
	Parent, Child svc.Ref
	ID            string
	At            time.Time
	Cuts          map[string]Cut
}

// Fork creates the child's manifest, the commit point of a fork: before it
// there is no child, after it the child is complete. A retry finds the manifest
// of the first attempt, which counts, also if the cuts have moved on since. A
// child that another fork has made is the Conflict branch_exists.
func (s *Store) Fork(ctx context.Context, f Fork) (*Manifest, error) {
	m := &Manifest{Parent: f.Parent, ForkID: f.ID, At: f.At.UTC().Truncate(time.Millisecond), Stores: f.stores()}
	if f.ID == "" || f.Parent == f.Child || f.Parent.Project != f.Child.Project {
		return nil, fmt.Errorf("fork %q of %s to %s: a fork has an ID and stays within its project", f.ID, f.Parent, f.Child)
	}
	if err := m.check(); err != nil {
		return nil, fmt.Errorf("fork of %s to %s: %w", f.Parent, f.Child, err)
	}
	data, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode manifest of %s: %w", f.Child, err)
	}
	_, err = objstore.SettleBytes(ctx, s.manifests, manifestKey(f.Child), data, objstore.Condition{IfAbsent: true})
	switch {
	case errors.Is(err, objstore.ErrPrecondition):
		return s.sameFork(ctx, f)
	case err != nil:
		return nil, fmt.Errorf("fork of %s to %s: %w", f.Parent, f.Child, err)
	default:
		return m, nil
	}
}

// stores are the cuts with where they come from.
func (f Fork) stores() map[string]StoreBase {
	stores := maps.Clone(f.Cuts)
	for name, base := range stores {
		if name == BlobStore && base.Origins != nil {
			base.Origins = append([]Origin{{f.Parent.Version, base.TXID}}, base.Origins...)
		} else {
			base.Origins = nil
		}
		stores[name] = base
	}
	return stores
}

func (s *Store) sameFork(ctx context.Context, f Fork) (*Manifest, error) {
	there, err := s.Load(ctx, f.Child)
	if err != nil {
		return nil, err
	}
	if there == nil || there.ForkID != f.ID {
		return nil, svc.Errorf(svc.Conflict, "branch_exists", "version %s already has data, from another fork", f.Child).
			WithHint("deploy a new version instead")
	}
	return there, nil
}

// Load reads the manifest of a version; nil for a root.
func (s *Store) Load(ctx context.Context, v svc.Ref) (*Manifest, error) {
	data, _, err := objstore.Read(ctx, s.manifests, manifestKey(v), 0, -1)
	if errors.Is(err, objstore.ErrNotExist) {
		return nil, nil //nolint:nilnil // a root has no manifest, which is no error
	}
	if err != nil {
		return nil, fmt.Errorf("read manifest of %s: %w", v, err)
	}
	m := new(Manifest)
	if err := json.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("manifest of %s: %w", v, err)
	}
	return m, nil
}

// Stores names the stores that have a log under the version's own name: those
// that something was written to. Inherited ones are in the manifest.
func (s *Store) Stores(ctx context.Context, v svc.Ref) ([]string, error) {
	logs, err := s.Logs(ctx, v)
	return slices.Sorted(maps.Keys(logs)), err
}

// Logs lists the files of those stores, by store, as one listing has them: it
// may be a little behind.
func (s *Store) Logs(ctx context.Context, v svc.Ref) (map[string][]objstore.Info, error) {
	infos, err := objstore.ListAll(ctx, s.data, v.String()+"/db/")
	if err != nil {
		return nil, fmt.Errorf("list stores of %s: %w", v, err)
	}
	logs := map[string][]objstore.Info{}
	for _, info := range infos {
		if f, ok := ParseKey(info.Key); ok {
			name := f.Prefix[strings.LastIndexByte(f.Prefix, '/')+1:]
			logs[name] = append(logs[name], info)
		}
	}
	return logs, nil
}
