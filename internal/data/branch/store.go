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

	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/svc"
)

// ErrFenced says that another writer owns the log: it created the slot that this
// writer tried to create. A fenced writer stops immediately, acknowledges nothing
// more, and deletes its local copy.
var ErrFenced = errors.New("another writer owns the log")

// ErrLost says that ownership was revoked: the version's record has changed.
var ErrLost = errors.New("ownership was lost")

// Config configures a Store.
type Config struct {
	Data      objstore.Bucket // logs, blobs and dead lists
	Manifests objstore.Bucket // records, manifests and leases; Data when nil
	Grace     time.Duration   // how long an unneeded object stays, 1 h when 0; far longer than a fork and a lease
	LeaseTTL  time.Duration   // 15 s, or a quarter of a shorter grace, when 0; renewed every third of it
	Logger    *slog.Logger
}

// Store reads and writes the records, manifests and leases of versions.
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
	data := objstore.Told(c.Data, c.Logger)
	manifests := data // equal buckets stay equal
	if c.Manifests != nil && c.Manifests != c.Data {
		manifests = objstore.Told(c.Manifests, c.Logger)
	}
	s := &Store{
		data: data, manifests: manifests, log: c.Logger,
		grace: cmp.Or(c.Grace, time.Hour),
	}
	s.ttl = cmp.Or(c.LeaseTTL, min(15*time.Second, s.grace/4))
	if s.grace < 4*s.ttl {
		return nil, fmt.Errorf("branch: a grace of %v is too short for leases of %v", s.grace, s.ttl)
	}
	return s, nil
}

// Fork describes a fork. A call with the same ID is a retry of the same fork.
type Fork struct {
	Parent, Child svc.Ref
	ID            string
	At            time.Time
	Cuts          map[string]Cut
}

// Fork creates the child's manifest, which is the commit point: before it the
// child does not exist, after it the child is complete. A retry returns the
// manifest of the first attempt, even if its own cuts differ. It fails with the
// Conflict branch_exists when another fork created the child.
func (s *Store) Fork(ctx context.Context, f Fork) (*Manifest, error) {
	m := &Manifest{Parent: f.Parent, ForkID: f.ID, At: f.At.UTC().Truncate(time.Millisecond), Databases: f.databases()}
	if f.ID == "" || f.Parent == f.Child || f.Parent.Project != f.Child.Project {
		return nil, fmt.Errorf("fork %q of %s to %s: want an ID, and a child in the same project", f.ID, f.Parent, f.Child)
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

// databases are the cuts, with the origins of the blob database.
func (f Fork) databases() map[string]DatabaseBase {
	databases := maps.Clone(f.Cuts)
	for name, base := range databases {
		if name == BlobDatabase && base.Origins != nil {
			base.Origins = append([]Origin{{f.Parent.Version, base.TXID}}, base.Origins...)
		} else {
			base.Origins = nil
		}
		databases[name] = base
	}
	return databases
}

func (s *Store) sameFork(ctx context.Context, f Fork) (*Manifest, error) {
	there, err := s.Load(ctx, f.Child)
	if err != nil {
		return nil, err
	}
	if there == nil || there.ForkID != f.ID {
		return nil, svc.Errorf(svc.Conflict, svc.CodeBranchExists, "version %s already has data, from another fork", f.Child).
			WithHint("deploy a new version instead")
	}
	return there, nil
}

// Load reads the manifest of a version. It returns nil for a root.
func (s *Store) Load(ctx context.Context, v svc.Ref) (*Manifest, error) {
	data, _, err := objstore.Read(ctx, s.manifests, manifestKey(v), 0, -1)
	if errors.Is(err, objstore.ErrNotExist) {
		return nil, nil // a root has no manifest
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

// Databases lists the databases that have a log of the version's own: those that
// the version has written to. Inherited ones are in the manifest.
func (s *Store) Databases(ctx context.Context, v svc.Ref) ([]string, error) {
	logs, err := s.Logs(ctx, v)
	return slices.Sorted(maps.Keys(logs)), err
}

// Logs lists the log files of those databases, by database, from one listing,
// which may lag behind.
func (s *Store) Logs(ctx context.Context, v svc.Ref) (map[string][]objstore.Info, error) {
	infos, err := objstore.ListAll(ctx, s.data, v.String()+"/db/")
	if err != nil {
		return nil, fmt.Errorf("list databases of %s: %w", v, err)
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

// Objects lists all objects of the databases of a version, log files and history, by database.
func (s *Store) Objects(ctx context.Context, v svc.Ref) (map[string][]objstore.Info, error) {
	prefix := v.String() + "/db/"
	infos, err := objstore.ListAll(ctx, s.data, prefix)
	if err != nil {
		return nil, fmt.Errorf("list databases of %s: %w", v, err)
	}
	there := map[string][]objstore.Info{}
	for _, info := range infos {
		name, _, _ := strings.Cut(info.Key[len(prefix):], "/")
		there[name] = append(there[name], info)
	}
	return there, nil
}
