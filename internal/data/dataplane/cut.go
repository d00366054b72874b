package dataplane

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/replica"
)

// Cut returns, for each database, the files in the object store that restore it at one
// position of all databases: what a child begins with. Writes wait while the position is
// staged, not while it is shipped. Databases that the version only inherited are included.
//
// offer, when not "", is the Config.Warm of a child on the same machine.
func (v *Volumes) Cut(ctx context.Context) (cuts map[string]branch.Cut, offer string, err error) {
	s, err := v.Stage(ctx)
	if err != nil {
		return nil, "", err
	}
	return s.Ship(ctx)
}

// Staged is a Cut whose position is chosen and whose files may still be on this machine
// alone.
type Staged struct {
	volumes *Volumes
	points  map[string]cutPoint
	offer   string
}

// Stage is the first part of Cut: when it returns, the position is chosen. Ship is the second.
func (v *Volumes) Stage(ctx context.Context) (*Staged, error) {
	s, open, err := v.stageCut(ctx, false)
	if err != nil {
		return nil, err
	}
	open()
	return s, nil
}

// Ship returns the Cut when its files are in the object store.
func (s *Staged) Ship(ctx context.Context) (cuts map[string]branch.Cut, offer string, err error) {
	cuts, err = s.volumes.cutAt(ctx, s.points)
	return cuts, s.offer, err
}

func (v *Volumes) cutAt(ctx context.Context, points map[string]cutPoint) (cuts map[string]branch.Cut, err error) {
	for _, m := range points { // concurrently
		m.shipNow()
	}
	cuts = v.inherited() // unopened databases are unchanged
	for name, m := range points {
		if err := m.shipped(ctx); err != nil {
			return nil, fmt.Errorf("ship database %q: %w", name, err)
		}
		if cuts[name], err = m.db.log.Cut(m.txid); err != nil {
			return nil, err
		}
	}
	return kinds(cuts), v.revoked.check()
}

// inherited returns the databases that the version began with and that its children begin with.
func (v *Volumes) inherited() map[string]branch.Cut {
	if v.manifest == nil {
		return map[string]branch.Cut{}
	}
	return shared(v.manifest.Databases)
}

// cutPoint is the position of one database in a cut.
type cutPoint struct {
	db   *database
	txid replica.TXID
	mark uint64
}

// stageCut stages every database while none is written, and holds the files. open admits writers
// again. A whole cut has the databases that belong to the version alone, too.
func (v *Volumes) stageCut(ctx context.Context, whole bool) (s *Staged, open func(), err error) {
	if err := v.claim(ctx); err != nil {
		return nil, nil, err
	}
	if whole {
		if err := v.OpenOwn(ctx); err != nil {
			return nil, nil, err
		}
	}
	v.awaitOpening()
	open, err = v.gate.acquire(ctx)
	if err != nil {
		return nil, nil, err
	}
	if s, err = v.stageAll(ctx, whole); err != nil {
		open()
		return nil, nil, err
	}
	return s, open, nil
}

// stageAll is stageCut while no writer is admitted.
func (v *Volumes) stageAll(ctx context.Context, whole bool) (*Staged, error) {
	dbs := slices.DeleteFunc(slices.Clone(*v.open.Load()), func(db *database) bool { // includes databases opened meanwhile, which may have been written
		return !whole && isOwn(db.name)
	})
	points := map[string]cutPoint{}
	v.pointHeld(false)
	for _, db := range dbs {
		txid, err := db.file.Stage()
		if err != nil {
			return nil, fmt.Errorf("stage database %q: %w", db.name, err)
		}
		points[db.name] = cutPoint{db, txid, db.ship.mark()}
	}
	return &Staged{v, points, v.offer(ctx, dbs)}, nil
}

// shipNow wakes the shipper without waiting for the window.
func (p cutPoint) shipNow() {
	if p.db.log.Position() < p.txid {
		poke(p.db.ship.wake)
		poke(p.db.ship.rush)
	}
}

// shipped returns when the log has reached the position.
func (p cutPoint) shipped(ctx context.Context) error {
	if p.db.log.Position() >= p.txid {
		return nil
	}
	return p.db.ship.await(ctx, p.mark)
}

// kinds sets the informative kind of each database.
func kinds(cuts map[string]branch.Cut) map[string]branch.Cut {
	for name, cut := range cuts {
		cut.Kind, _, _ = strings.Cut(name, "-")
		cuts[name] = cut
	}
	return cuts
}

// CutStored is Cut for a version that no process has open, from the object store alone: the
// newest transactions there. For an archived version it reads the record alone. It is never whole:
// a release wakes its parent first.
func CutStored(ctx context.Context, c Config) (map[string]branch.Cut, error) {
	record, err := c.Branches.Record(ctx, c.Ref)
	if err != nil {
		return nil, err
	}
	if record != nil && record.Cut != nil {
		return shared(record.Cut.Databases), nil
	}
	s, err := c.stored(ctx)
	if err != nil {
		return nil, err
	}
	bases := map[string]branch.DatabaseBase{}
	if s.manifest != nil {
		bases = shared(s.manifest.Databases) // a released version began with its parent's own ones
	}
	cuts := maps.Clone(bases)
	for name := range shared(s.logs) {
		log, err := c.logOf(ctx, s, name)
		if err != nil {
			return nil, err
		}
		if cuts[name], err = log.Cut(log.Position()); err != nil {
			return nil, err
		}
	}
	return kinds(cuts), nil
}

// stored is the data of a version in the object store.
type stored struct {
	manifest *branch.Manifest           // nil for a root
	logs     map[string][]objstore.Info // by database
}

// stored reads manifest and listing concurrently.
func (c Config) stored(ctx context.Context) (s stored, err error) {
	var errs [2]error
	var all sync.WaitGroup
	all.Go(func() { s.manifest, errs[0] = c.Branches.Load(ctx, c.Ref) })
	all.Go(func() { s.logs, errs[1] = c.Branches.Logs(ctx, c.Ref) })
	all.Wait()
	return s, errors.Join(errs[:]...)
}
