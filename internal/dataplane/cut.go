package dataplane

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"

	"github.com/svcctl/svcctl/internal/branch"
	"github.com/svcctl/svcctl/internal/objstore"
	"github.com/svcctl/svcctl/internal/replica"
)

// Cut takes one moment of all stores and gives, for each, the files in the
// object store that restore it: what a child begins with. Writes wait while the
// moment is taken, not while it is shipped. Stores that the version has only
// inherited are in it too.
//
// offer, when not "", is for Config.Warm of a child on the same machine.
func (v *Volumes) Cut(ctx context.Context) (cuts map[string]branch.Cut, offer string, err error) {
	moments, offer, err := v.moment(ctx)
	if err != nil {
		return nil, "", err
	}
	cuts, err = v.cutAt(ctx, moments)
	return cuts, offer, err
}

func (v *Volumes) cutAt(ctx context.Context, moments map[string]moment) (cuts map[string]branch.Cut, err error) {
	for _, m := range moments { // all at once
		m.hurry()
	}
	cuts = v.inherited() // what was never opened was never written
	for name, m := range moments {
		if err := m.shipped(ctx); err != nil {
			return nil, fmt.Errorf("shipping the store %q: %w", name, err)
		}
		if cuts[name], err = m.store.log.Cut(m.txid); err != nil {
			return nil, err
		}
	}
	return kinds(cuts), v.fate.check()
}

// inherited gives the stores that the version began with, as they were.
func (v *Volumes) inherited() map[string]branch.Cut {
	cuts := map[string]branch.Cut{}
	if v.manifest != nil {
		maps.Copy(cuts, v.manifest.Stores)
	}
	return cuts
}

// moment is where one store stood when all of them stood still.
type moment struct {
	store *store
	txid  replica.TXID
	mark  uint64
}

// moment stages every store while none is written, and holds the files.
func (v *Volumes) moment(ctx context.Context) (moments map[string]moment, offer string, err error) {
	if err := v.own(ctx); err != nil {
		return nil, "", err
	}
	v.settled()
	release, err := v.gate.own(ctx)
	if err != nil {
		return nil, "", err
	}
	defer release()
	stores := *v.open.Load() // one that was opened in between may have been written
	moments = map[string]moment{}
	for _, s := range stores {
		txid, err := s.file.Stage()
		if err != nil {
			return nil, "", fmt.Errorf("staging the store %q: %w", s.name, err)
		}
		moments[s.name] = moment{s, txid, s.ship.mark()}
	}
	return moments, v.offer(ctx, stores), nil
}

// hurry has the moment shipped without waiting for the window.
func (m moment) hurry() {
	if m.store.log.Position() < m.txid {
		poke(m.store.ship.wake)
		poke(m.store.ship.rush)
	}
}

// shipped returns when the log has the moment.
func (m moment) shipped(ctx context.Context) error {
	if m.store.log.Position() >= m.txid {
		return nil
	}
	return m.store.ship.await(ctx, m.mark)
}

// kinds fills in what the readers of a manifest like to know.
func kinds(cuts map[string]branch.Cut) map[string]branch.Cut {
	for name, cut := range cuts {
		cut.Kind, _, _ = strings.Cut(name, "-")
		cuts[name] = cut
	}
	return cuts
}

// CutStored is Cut for a version that no process has open, from the object store
// alone: the newest transactions there. The record of an archived one has it.
func CutStored(ctx context.Context, c Config) (map[string]branch.Cut, error) {
	record, err := c.Branches.Record(ctx, c.Ref)
	if err != nil {
		return nil, err
	}
	if record != nil && record.Cut != nil {
		return record.Cut.Stores, nil
	}
	s, err := c.stored(ctx)
	if err != nil {
		return nil, err
	}
	bases := map[string]branch.StoreBase{}
	if s.manifest != nil {
		bases = s.manifest.Stores
	}
	cuts := maps.Clone(bases)
	for name, listing := range s.logs {
		rc := replica.Config{
			Bucket: c.Bucket, Prefix: branch.StorePrefix(c.Ref, name), Listing: listing, Keep: c.Branches.Keep(), Logger: c.Logger,
		}
		if base, ok := bases[name]; ok {
			rc.Base = &base
		}
		log, err := replica.Open(ctx, rc)
		if err != nil {
			return nil, err
		}
		if cuts[name], err = log.Cut(log.Position()); err != nil {
			return nil, err
		}
	}
	return kinds(cuts), nil
}

// stored is what the object store has of a version.
type stored struct {
	manifest *branch.Manifest           // nil for a root
	logs     map[string][]objstore.Info // by store
}

// stored asks for all of it at once.
func (c Config) stored(ctx context.Context) (s stored, err error) {
	var errs [2]error
	var all sync.WaitGroup
	all.Go(func() { s.manifest, errs[0] = c.Branches.Load(ctx, c.Ref) })
	all.Go(func() { s.logs, errs[1] = c.Branches.Logs(ctx, c.Ref) })
	all.Wait()
	return s, errors.Join(errs[:]...)
}
