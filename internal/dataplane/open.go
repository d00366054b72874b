package dataplane

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/svcctl/svcctl/internal/branch"
	"github.com/svcctl/svcctl/internal/cowvfs"
	"github.com/svcctl/svcctl/internal/replica"
	"github.com/svcctl/svcctl/internal/sqlite/raw"
)

// openStore makes a store ready: its log, its file or as much of it as is here,
// and its writer. When the data was taken from another host that had not let go,
// the right to write is proven first.
func (v *Volumes) openStore(ctx context.Context, name string) (*store, error) {
	s := &store{
		name: name, volumes: v, path: v.cache.path(name), disk: disk{path: v.cache.path(name) + "-wal"}, done: make(chan struct{}),
		writer: make(chan *raw.Conn, 1), idle: make(chan *raw.Conn, maxReaders), room: make(chan struct{}, maxReaders),
	}
	if v.manifest != nil {
		if base, ok := v.manifest.Stores[name]; ok {
			s.base = &base
		}
	}
	for range maxReaders {
		s.room <- struct{}{}
	}
	open := s.open
	if v.grant.Took {
		open = func(ctx context.Context) error {
			return v.cfg.Branches.Seal(ctx, *v.grant, s.openSealed)
		}
	}
	if err := open(ctx); err != nil {
		return nil, err
	}
	if err := s.shipOnlyCopy(); err != nil {
		return nil, errors.Join(err, s.shut())
	}
	v.work.Go(func() { s.ship.run(v.background) })
	if s.ship.hand != nil || s.file.Pending() { // of a process that died
		s.ship.committed()
	}
	s.afterOpen()
	return s, nil
}

// shipOnlyCopy makes a first transaction of a file that the log has nothing of:
// the only copy after a power failure, whose segments are not trusted.
func (s *store) shipOnlyCopy() error {
	if s.log.Position() > 0 || s.ship.hand != nil || s.file.Pending() {
		return nil
	}
	has, err := s.hasContent()
	if err != nil || !has {
		return err
	}
	seg, err := s.file.Seal()
	if err == nil {
		s.ship.hand = &seg
	}
	return err
}

// hasContent tells a database from the page that the engine makes of a store when
// it is opened.
func (s *store) hasContent() (bool, error) {
	const onePage = 4096 // bytes
	info, err := os.Lstat(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && info.Size() > onePage, err
}

// openSealed is open, and a first transaction in the log.
func (s *store) openSealed(ctx context.Context) error {
	err := s.open(ctx)
	if err != nil {
		return err
	}
	if s.ship.hand == nil {
		seg, err := s.file.Seal()
		if err != nil {
			return errors.Join(err, s.shut())
		}
		s.ship.hand = &seg
	}
	if err := s.ship.drain(ctx); err != nil {
		err = errors.Join(err, s.shut())
		if errors.Is(err, replica.ErrFenced) { // the old owner was faster once more
			err = errors.Join(err, cowvfs.Remove(s.path))
		}
		return err
	}
	return nil
}

// open opens log, file and writer, or nothing.
func (s *store) open(ctx context.Context) (err error) {
	v := s.volumes
	if s.log, err = replica.Open(ctx, replica.Config{
		Bucket: v.cfg.Bucket, Prefix: branch.StorePrefix(v.cfg.Ref, s.name), Base: s.base, New: v.grant.New,
		TempDir: v.cache.temp(), Keep: v.cfg.Branches.Keep(), Logger: v.cfg.Logger,
	}); err != nil {
		return err
	}
	s.ship = newShipper(s)
	if err := v.cache.restoreOnly(s.name, s.log.Position() == 0); err != nil {
		return err
	}
	if err := s.attach(ctx); err != nil {
		return err
	}
	w, err := raw.Open(s.path, raw.Options{VFS: cowvfs.Name, BusyTimeout: busyTimeout})
	if err != nil {
		return errors.Join(err, s.file.Detach())
	}
	if err := prepareWriter(ctx, w); err != nil {
		return errors.Join(err, w.Close(), s.file.Detach())
	}
	s.writer <- w
	return nil
}

// shut undoes open.
func (s *store) shut() error {
	w := <-s.writer
	return errors.Join(s.disk.close(), w.Close(), s.file.Detach())
}

// attach takes the file that is here, when it goes on from where the log is;
// else it begins with an empty one whose pages come from the log.
func (s *store) attach(ctx context.Context) error {
	for first := true; ; first = false {
		err := s.attachOnce(ctx)
		if !first || !errors.Is(err, cowvfs.ErrBehind) {
			return err
		}
		s.volumes.cfg.Logger.WarnContext(ctx, "the local file is not what the log goes on from: it is dropped", "store", s.name, "reason", err)
		if err := cowvfs.Remove(s.path); err != nil {
			return fmt.Errorf("dropping a local file: %w", err)
		}
	}
}

func (s *store) attachOnce(ctx context.Context) error {
	pos := s.log.Position()
	o := cowvfs.Options{
		Path: s.path, Capture: &cowvfs.Capture{TXID: pos, Notify: s.ship.committed}, Logger: s.volumes.cfg.Logger,
	}
	src, err := s.missing(ctx, pos)
	if err != nil {
		return err
	}
	o.Source = src
	if s.file, err = cowvfs.Attach(ctx, o); err != nil {
		return err
	}
	if err := s.agree(ctx, pos); err != nil {
		return errors.Join(err, s.file.Detach())
	}
	return nil
}

// missing gives the source of the pages that are not here; nil when all are.
func (s *store) missing(ctx context.Context, pos replica.TXID) (cowvfs.Source, error) { //nolint:ireturn // what Attach takes
	_, err := os.Lstat(s.path)
	here := err == nil
	visit := s.volumes.visit
	if visit != nil && !here && s.base != nil && uint64(pos) == s.base.TXID {
		warm, err := visit.start(ctx, s)
		switch {
		case err == nil && warm == nil: // the file is whole
			visit.leave(s.name)
			return nil, nil //nolint:nilnil // nothing is missing
		case err == nil:
			s.warm = warm
			return warm, nil
		}
	}
	if visit != nil {
		visit.leave(s.name)
	}
	if pos == 0 || here && !cowvfs.Partial(s.path) {
		return nil, nil //nolint:nilnil // nothing is missing
	}
	return s.source(ctx, pos)
}

// agree forgets the segments that were appended by a process that died before
// it could note so. One that differs from the log's is of another history.
func (s *store) agree(ctx context.Context, pos replica.TXID) error {
	for {
		seg, ok, err := s.file.Take()
		if err != nil || !ok {
			return err
		}
		if seg.TXID > pos {
			s.ship.hand = &seg
			return nil
		}
		if err := s.isInLog(ctx, seg); err != nil {
			return err
		}
		if err := s.file.Shipped(seg.TXID); err != nil {
			return err
		}
	}
}

func (s *store) isInLog(ctx context.Context, seg cowvfs.Segment) error {
	f, err := os.Open(seg.Path)
	if err != nil {
		return fmt.Errorf("reading a transaction: %w", err)
	}
	defer f.Close()
	same, err := s.log.Has(ctx, seg.TXID, f, seg.Bytes)
	if err == nil && !same {
		err = fmt.Errorf("the log has another transaction %s: %w", seg.TXID, cowvfs.ErrBehind)
	}
	return err
}
