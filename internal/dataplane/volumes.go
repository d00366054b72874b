package dataplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sync"

	"github.com/svcctl/svcctl/internal/binding"
)

// Volumes are the stores of one version, in one directory.
type Volumes struct {
	dir    string
	gate   sync.RWMutex // writes share it, Freeze owns it
	mu     sync.Mutex   // guards what follows
	stores map[string]*store
	closed bool
}

var _ binding.Volumes = (*Volumes)(nil)

// Open prepares the stores below dir, which it creates if need be, mode 0700.
// No file is opened before a binding asks for its store.
func Open(dir string) (*Volumes, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the data directory: %w", err)
	}
	return &Volumes{dir: dir, stores: map[string]*store{}}, nil
}

var storeName = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,199}$`)

// Store opens the store of that name, dir/db/<name>.sqlite.
func (v *Volumes) Store(ctx context.Context, name string) (binding.Store, error) {
	if !storeName.MatchString(name) {
		return nil, fmt.Errorf("%q cannot name a store", name)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return nil, errClosed
	}
	if s := v.stores[name]; s != nil {
		return s, nil
	}
	path := filepath.Join(v.dir, "db", name+".sqlite")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("making the data directory: %w", err)
	}
	s, err := openStore(ctx, path, &v.gate)
	if err != nil {
		return nil, fmt.Errorf("opening the store %q: %w", name, err)
	}
	v.stores[name] = s
	return s, nil
}

// Freeze runs fn while no store of the version is being written: what is on
// disk then is one moment of all of them.
func (v *Volumes) Freeze(fn func() error) error {
	v.gate.Lock()
	defer v.gate.Unlock()
	return fn()
}

// Close waits for what runs, writes the logs back into the files and closes
// them. Closing twice is harmless.
func (v *Volumes) Close() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.closed = true
	var errs []error
	for name, s := range v.stores {
		if err := s.close(); err != nil {
			errs = append(errs, fmt.Errorf("closing the store %q: %w", name, err))
		}
		delete(v.stores, name)
	}
	return errors.Join(errs...)
}
