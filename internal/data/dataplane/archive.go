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

	"github.com/svcctl/svcctl/internal/data/cowvfs"
	"github.com/svcctl/svcctl/internal/data/replica"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/svc"
)

// archivePlan is the maximum number of files that restore an archived database.
const archivePlan = 32

// Archive ships everything to the object store, compacts it, verifies that it can be
// restored from there, releases the data and closes v. After that the directory may be
// deleted. Bindings need not be open, and no goroutine may write. After an error Archive
// can be repeated with new Volumes.
func (v *Volumes) Archive(ctx context.Context) error {
	dbs, err := v.shipAll(ctx)
	if err = errors.Join(err, v.Close()); err != nil || len(dbs) == 0 { //nolint:contextcheck // Close takes none
		return err
	}
	verified, cuts := map[string]uint64{}, v.inherited()
	for _, db := range dbs {
		at := uint64(db.log.Position())
		if at == 0 {
			if has, err := db.hasContent(); err != nil || has {
				return svc.Errorf(svc.Internal, svc.CodeArchiveUnverified, "the object store has no data of the database %q; its local files are kept", db.name).Because(err)
			}
			continue
		}
		if before, ok := v.grant.Verified[db.name]; !ok || before != at {
			if err := db.verify(ctx); err != nil {
				return svc.Errorf(svc.Internal, svc.CodeArchiveUnverified, "the database %q cannot be restored from the object store; its local files are kept", db.name).
					Because(err)
			}
		}
		verified[db.name] = at
		if cuts[db.name], err = db.log.Cut(db.log.Position()); err != nil {
			return err
		}
	}
	return v.cfg.Branches.Archive(ctx, *v.grant, verified, kinds(shared(cuts)))
}

// shipAll opens every database the version has written, and ships and compacts it.
func (v *Volumes) shipAll(ctx context.Context) ([]*database, error) {
	names, err := v.written(ctx)
	if err != nil {
		return nil, err
	}
	var dbs []*database
	for _, name := range names {
		db, err := v.database(ctx, name)
		if err == nil && name == volume.SharedDatabase {
			err = db.recordUnreferenced(ctx)
		}
		if err == nil {
			err = db.ship.flush(ctx)
		}
		if err == nil {
			err = db.compactNow(ctx, replica.Policy{MaxPlan: archivePlan})
		}
		if err != nil {
			return nil, fmt.Errorf("archive database %q: %w", name, err)
		}
		dbs = append(dbs, db)
	}
	return dbs, nil
}

// written lists the databases that are in the cache or in the object store under the
// version's own name.
func (v *Volumes) written(ctx context.Context) ([]string, error) {
	here, err := v.cache.databases()
	if err != nil {
		return nil, err
	}
	there, err := v.cfg.Branches.Databases(ctx, v.cfg.Ref)
	if err != nil {
		return nil, err
	}
	names := append(here, there...)
	slices.Sort(names)
	return slices.Compact(names), nil
}

// verify restores the newest transaction to a temporary file and checks that it is sound
// and, if the local file is complete, equal. The database is closed.
func (db *database) verify(ctx context.Context) error {
	tmp := filepath.Join(db.volumes.cache.temp(), "verify"+suffix)
	err := db.log.Restore(ctx, db.log.Position(), tmp)
	if err == nil && db.file.Hydrated() {
		err = sameFiles(tmp, db.path)
	}
	if err == nil {
		err = sound(ctx, tmp)
	}
	return errors.Join(err, cowvfs.Remove(tmp))
}

// sound runs SQLite's integrity check.
func sound(ctx context.Context, path string) error {
	c, err := raw.Open(path, raw.Options{})
	if err != nil {
		return err
	}
	defer c.Close()
	defer c.Until(ctx)()
	return c.Query("PRAGMA integrity_check(1)", nil, func(s *raw.Stmt) error {
		if text := s.Text(0); text != "ok" {
			return fmt.Errorf("check restored database: %s", text)
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
			return fmt.Errorf("compare restored database: it differs between bytes %d and %d", at, at+chunk)
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
