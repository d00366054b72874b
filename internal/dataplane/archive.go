package dataplane

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/svcctl/svcctl/internal/binding"
	"github.com/svcctl/svcctl/internal/cowvfs"
	"github.com/svcctl/svcctl/internal/replica"
	"github.com/svcctl/svcctl/internal/sqlite/raw"
	"github.com/svcctl/svcctl/internal/svc"
)

// archivePlan is how many files an archived store is restored from at most.
const archivePlan = 32

// Archive brings everything into the object store, compacts it, proves that it
// can be restored from there, gives the data up and closes v. After that the
// directory may go. The version's bindings need not be open, and nothing may
// write. After a failure it may be repeated with new Volumes.
func (v *Volumes) Archive(ctx context.Context) error {
	stores, err := v.shipAll(ctx)
	if err = errors.Join(err, v.Close()); err != nil || len(stores) == 0 { //nolint:contextcheck // what was begun is ended
		return err
	}
	verified, cuts := map[string]uint64{}, v.inherited()
	for _, s := range stores {
		at := uint64(s.log.Position())
		if at == 0 {
			if has, err := s.hasContent(); err != nil || has {
				return svc.Errorf(svc.Internal, "archive_unverified", "the object store has nothing of %q: its files stay", s.name).Because(err)
			}
			continue
		}
		if before, ok := v.grant.Verified[s.name]; !ok || before != at {
			if err := s.verify(ctx); err != nil {
				return svc.Errorf(svc.Internal, "archive_unverified", "the object store does not give back what is in %q: its files stay", s.name).
					Because(err)
			}
		}
		verified[s.name] = at
		if cuts[s.name], err = s.log.Cut(s.log.Position()); err != nil {
			return err
		}
	}
	return v.cfg.Branches.Archive(ctx, *v.grant, verified, kinds(cuts))
}

// shipAll opens every store the version has written, and ships and compacts it.
func (v *Volumes) shipAll(ctx context.Context) ([]*store, error) {
	names, err := v.written(ctx)
	if err != nil {
		return nil, err
	}
	var stores []*store
	for _, name := range names {
		s, err := v.store(ctx, name)
		if err == nil && name == binding.SharedStore {
			err = s.tellDropped(ctx)
		}
		if err == nil {
			err = s.ship.flush(ctx)
		}
		if err == nil {
			err = s.compactNow(ctx, replica.Policy{MaxPlan: archivePlan})
		}
		if err != nil {
			return nil, fmt.Errorf("archiving the store %q: %w", name, err)
		}
		stores = append(stores, s)
	}
	return stores, nil
}

// written names the stores that are in the cache or in the object store under
// the version's own name.
func (v *Volumes) written(ctx context.Context) ([]string, error) {
	here, err := v.cache.stores()
	if err != nil {
		return nil, err
	}
	there, err := v.cfg.Branches.Stores(ctx, v.cfg.Ref)
	if err != nil {
		return nil, err
	}
	names := append(here, there...)
	slices.Sort(names)
	return slices.Compact(names), nil
}

// verify restores the newest transaction to a temporary file and looks whether
// it is sound and, where the whole database is here, the same. The file is
// closed.
func (s *store) verify(ctx context.Context) error {
	tmp := filepath.Join(s.volumes.cache.temp(), "verify"+suffix)
	err := s.log.Restore(ctx, s.log.Position(), tmp)
	if err == nil && s.file.Hydrated() {
		err = sameFiles(tmp, s.path)
	}
	if err == nil {
		err = sound(ctx, tmp)
	}
	return errors.Join(err, cowvfs.Remove(tmp))
}

// sound runs SQLite's own check.
func sound(ctx context.Context, path string) error {
	c, err := raw.Open(path, raw.Options{})
	if err != nil {
		return err
	}
	defer c.Close()
	defer c.Until(ctx)()
	return c.Query("PRAGMA integrity_check(1)", nil, func(s *raw.Stmt) error {
		if text := s.Text(0); text != "ok" {
			return fmt.Errorf("the restored database is damaged: %s", text)
		}
		return nil
	})
}

// sameFiles compares two files byte by byte.
func sameFiles(a, b string) error {
	x, err := os.Open(a)
	if err != nil {
		return err
	}
	defer x.Close()
	y, err := os.Open(b)
	if err != nil {
		return err
	}
	defer y.Close()
	const chunk = 1 << 20
	p, q := make([]byte, chunk), make([]byte, chunk)
	for at := int64(0); ; at += chunk {
		n, errX := io.ReadFull(x, p)
		m, errY := io.ReadFull(y, q)
		if !bytes.Equal(p[:n], q[:m]) {
			return fmt.Errorf("the restored database differs between bytes %d and %d", at, at+chunk)
		}
		if ended(errX) || ended(errY) {
			return nil
		}
		if err := errors.Join(errX, errY); err != nil {
			return err
		}
	}
}

func ended(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }
