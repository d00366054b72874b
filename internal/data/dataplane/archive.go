package dataplane

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/svcctl/svcctl/internal/data/replica"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/svc"
)

// archivePlan is the maximum number of files that restore an archived database.
const archivePlan = 32

// Archive ships everything to the object store, compacts it, verifies that it can be
// restored from there, releases the data and closes v. After that the directory may be
// deleted. Bindings need not be open, and no goroutine may write. After an error Archive
// can be repeated with new Volumes: archive_unverified says that the object store returns wrong
// data, data_unavailable that it does not answer.
func (v *Volumes) Archive(ctx context.Context) error {
	dbs, err := v.shipAll(ctx)
	if err = errors.Join(err, v.Close()); err != nil || len(dbs) == 0 { //nolint:contextcheck // Close takes none
		return unarchived(err, "the data")
	}
	verified, cuts := map[string]uint64{}, v.inherited()
	for _, db := range dbs {
		at := uint64(db.log.Position())
		if at == 0 {
			if err := db.checkUnwritten(); err != nil {
				return err
			}
			continue
		}
		if before, ok := v.grant.Verified[db.name]; !ok || before != at {
			if err := db.verify(ctx); err != nil {
				return unarchived(err, fmt.Sprintf("the database %q", db.name))
			}
		}
		verified[db.name] = at
		if cuts[db.name], err = db.log.Cut(db.log.Position()); err != nil {
			return unarchived(err, fmt.Sprintf("the database %q", db.name))
		}
	}
	return unarchived(v.cfg.Branches.Archive(ctx, *v.grant, verified, kinds(shared(cuts))), "the data")
}

// checkUnwritten returns an error if the database, whose log is empty, has content.
func (db *database) checkUnwritten() error {
	has, err := db.hasContent()
	if err != nil {
		return unarchived(err, fmt.Sprintf("the database %q", db.name))
	}
	if has {
		return svc.Errorf(svc.Internal, svc.CodeArchiveUnverified, "the object store has no data of the database %q; its local files are kept", db.name)
	}
	return nil
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
