package dataplane

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/cowvfs"
	"github.com/svcctl/svcctl/internal/data/replica"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
)

// openDatabase opens a database: its log, its local file, and its writer. While a late append of
// an earlier owner or process may take the next slot of the log, it claims the log first.
func (v *Volumes) openDatabase(ctx context.Context, name string) (*database, error) {
	db := &database{
		name: name, volumes: v, path: v.cache.path(name), disk: disk{path: v.cache.path(name) + "-wal", syncFile: v.cfg.SyncFile}, done: make(chan struct{}),
		writer: make(chan *raw.Conn, 1), idle: make(chan *raw.Conn, maxReaders), room: make(chan struct{}, maxReaders),
	}
	if v.manifest != nil {
		if base, ok := v.manifest.Databases[name]; ok {
			db.base = &base
		}
	}
	for range maxReaders {
		db.room <- struct{}{}
	}
	open := db.open
	if v.grant.TakenOver || v.grant.Unreleased {
		open = func(ctx context.Context) error {
			return v.cfg.Branches.Claim(ctx, *v.grant, db.openClaimed)
		}
	}
	if err := open(ctx); err != nil {
		return nil, err
	}
	if err := db.shipOnlyCopy(); err != nil {
		return nil, errors.Join(err, db.close())
	}
	v.work.Go(func() { db.ship.run(v.background) })
	if db.ship.current != nil || db.file.Pending() { // left by an earlier process
		db.ship.committed()
	}
	db.afterOpen()
	return db, nil
}

// shipOnlyCopy makes a first transaction of a file whose log is empty: the only copy after a
// power failure, whose segments are not trusted.
func (db *database) shipOnlyCopy() error {
	if db.log.Position() > 0 || db.ship.current != nil || db.file.Pending() {
		return nil
	}
	has, err := db.hasContent()
	if err != nil || !has {
		return err
	}
	seg, err := db.file.ClaimSegment()
	if err == nil {
		db.ship.current = &seg
	}
	return err
}

// hasContent distinguishes a database from the single page that the engine writes when it opens
// one.
func (db *database) hasContent() (bool, error) {
	const onePage = 4096 // bytes
	info, err := os.Lstat(db.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && info.Size() > onePage, err
}

// openClaimed opens the database, and appends a first transaction to the log unless no late append
// can harm.
func (db *database) openClaimed(ctx context.Context) error {
	err := db.open(ctx)
	if err != nil || !db.mustClaim() {
		return err
	}
	if db.ship.current == nil {
		seg, err := db.file.ClaimSegment()
		if err != nil {
			return errors.Join(err, db.close())
		}
		db.ship.current = &seg
	}
	if _, err := db.ship.drain(ctx, false); err != nil {
		err = errors.Join(err, db.close())
		if errors.Is(err, replica.ErrFenced) { // the old owner appended once more
			err = errors.Join(err, cowvfs.Remove(db.path))
		}
		return err
	}
	db.claimed()
	return nil
}

// open opens log, file and writer, or returns an error and leaves none open.
func (db *database) open(ctx context.Context) (err error) {
	v := db.volumes
	if db.log, err = replica.Open(ctx, replica.Config{
		Bucket: v.cfg.Bucket, Prefix: branch.DatabasePrefix(v.cfg.Ref, db.name), Base: db.base, New: v.grant.New,
		TempDir: v.cache.temp(), Keep: v.cfg.Branches.Keep(), Logger: v.cfg.Logger,
		History: v.cfg.History && !isOwn(db.name),
	}); err != nil {
		return err
	}
	db.began, db.ship = db.log.Position(), newShipper(db)
	if err := db.trust(); err != nil {
		return err
	}
	if err := v.cache.restoreOnlyCopy(db.name, db.log.Position() == 0); err != nil {
		return err
	}
	if err := db.attach(ctx); err != nil {
		return err
	}
	w, err := raw.Open(db.path, db.options(false))
	if err != nil {
		return errors.Join(err, db.file.Detach())
	}
	if err := prepareWriter(ctx, w); err != nil {
		return errors.Join(err, w.Close(), db.file.Detach())
	}
	db.writer <- w
	return nil
}

// attach attaches the local file if it continues the log; otherwise it deletes the file and
// attaches an empty one whose pages are read from the log.
func (db *database) attach(ctx context.Context) error {
	for first := true; ; first = false {
		err := db.attachOnce(ctx)
		if !first || !errors.Is(err, cowvfs.ErrBehind) {
			return err
		}
		db.volumes.cfg.Logger.WarnContext(ctx, "local file does not continue the log; deleting it", "database", db.name, "reason", err)
		if err := db.distrust(); err != nil {
			return err
		}
		if err := cowvfs.Remove(db.path); err != nil {
			return fmt.Errorf("delete local file: %w", err)
		}
	}
}

func (db *database) attachOnce(ctx context.Context) error {
	pos := db.log.Position()
	o := cowvfs.Options{
		Path: db.path, Capture: &cowvfs.Capture{TXID: pos, Notify: db.ship.committed}, Logger: db.volumes.cfg.Logger,
		WALRoom: db.volumes.room.wal,
	}
	if db.volumes.cfg.History {
		o.Capture.Clock = db.volumes.history.segment
	}
	src, err := db.missing(ctx, pos)
	if err != nil {
		return err
	}
	o.Source = src
	if db.file, err = cowvfs.Attach(ctx, o); err != nil {
		return err
	}
	if err := db.reconcile(ctx, pos); err != nil {
		return errors.Join(err, db.file.Detach())
	}
	return nil
}

// missing returns the source of the missing pages; nil when none are.
func (db *database) missing(ctx context.Context, pos replica.TXID) (cowvfs.Source, error) { //nolint:ireturn // what Attach takes
	_, err := os.Lstat(db.path)
	here := err == nil
	reader := db.volumes.warmReader
	if reader != nil && !here && db.base != nil && uint64(pos) == db.base.TXID {
		warm, err := reader.start(ctx, db)
		switch {
		case err == nil && warm == nil: // the file is complete
			reader.release(db.name)
			return nil, nil // nothing is missing
		case err == nil:
			db.warm = warm
			return warm, nil
		}
	}
	if reader != nil {
		reader.release(db.name)
	}
	if pos == 0 || here && !cowvfs.Partial(db.path) {
		return nil, nil // nothing is missing
	}
	return db.source(ctx, pos)
}

// reconcile deletes the segments that an earlier process appended without recording it. It
// returns ErrBehind for a segment that differs from the log's.
func (db *database) reconcile(ctx context.Context, pos replica.TXID) error {
	for {
		seg, ok, err := db.file.Next()
		if err != nil || !ok {
			return err
		}
		if seg.TXID > pos {
			db.ship.current = &seg
			return nil
		}
		if err := db.isInLog(ctx, seg); err != nil {
			return err
		}
		if err := db.file.Shipped(seg.TXID); err != nil {
			return err
		}
	}
}

func (db *database) isInLog(ctx context.Context, seg cowvfs.Segment) error {
	f, err := os.Open(seg.Path)
	if err != nil {
		return fmt.Errorf("read transaction: %w", err)
	}
	defer f.Close()
	same, err := db.log.Has(ctx, seg.TXID, f, seg.Bytes)
	if err == nil && !same {
		err = fmt.Errorf("compare transaction %s: it differs from the log's: %w", seg.TXID, cowvfs.ErrBehind)
	}
	return err
}
