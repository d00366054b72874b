package dataplane

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
)

// How often blobs are recorded and audited. A version without blobs sends no request.
const (
	recordSoon  = time.Minute      // after opening, for blobs of an earlier process
	recordEvery = 10 * time.Minute // after a blob was unreferenced
	firstAudit  = time.Hour
	auditEvery  = 24 * time.Hour
	recordBatch = 10_000 // blobs
)

const (
	sqlHasBlobs   = `SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'blob'`
	sqlDeadBlobs  = `SELECT key FROM blob WHERE dead = 1 LIMIT ?1`
	sqlDeleteBlob = `DELETE FROM blob WHERE key = ?1 AND dead = 1`
	// ?1 is the key before the first, ?2 the last key.
	sqlBlobsOf = `SELECT key, dead FROM blob WHERE key > ?1 AND key <= ?2`
)

// collectBlobs records unreferenced blobs in the object store, and regularly audits the
// stored blobs against the rows, until ctx ends.
func (db *database) collectBlobs(ctx context.Context) {
	audit := time.NewTimer(firstAudit)
	defer audit.Stop()
	tell := time.NewTimer(recordSoon)
	defer tell.Stop()
	log := db.volumes.cfg.Logger
	for waiting := true; ; {
		select {
		case <-ctx.Done():
			return
		case <-db.blobUnreferenced:
			if !waiting {
				tell.Reset(recordEvery)
			}
			waiting = true
		case <-tell.C:
			waiting = false
			if err := db.recordUnreferenced(ctx); err != nil && ctx.Err() == nil {
				log.WarnContext(ctx, "recording unreferenced bodies failed; retrying", "error", err, "retry_in", recordEvery)
				tell.Reset(recordEvery)
				waiting = true
			}
		case <-audit.C:
			audit.Reset(auditEvery)
			if err := db.auditBlobs(ctx); err != nil && ctx.Err() == nil {
				log.WarnContext(ctx, "audit of bodies failed; retrying", "error", err, "retry_in", auditEvery)
			}
		}
	}
}

// hasBlobs reports whether the version ever named a blob.
func (db *database) hasBlobs(ctx context.Context) (has bool, err error) {
	err = db.read(ctx, func(c *raw.Conn) error {
		return c.Query(sqlHasBlobs, nil, func(*raw.Stmt) error { has = true; return nil })
	})
	return has, err
}

// recordUnreferenced records dead blobs in the object store, once the log has their
// transactions, and deletes their rows. After a crash in between it repeats some of it.
func (db *database) recordUnreferenced(ctx context.Context) error {
	if has, err := db.hasBlobs(ctx); err != nil || !has {
		return err
	}
	for {
		var keys []string
		err := db.read(ctx, func(c *raw.Conn) error {
			return c.Query(sqlDeadBlobs, []any{recordBatch}, func(s *raw.Stmt) error {
				keys = append(keys, s.Text(0))
				return nil
			})
		})
		if err != nil || len(keys) == 0 {
			return err
		}
		if err := db.unreference(ctx, keys); err != nil {
			return err
		}
		err = db.write(ctx, func(c *raw.Conn) error {
			return c.InTx("BEGIN IMMEDIATE", func() error {
				for _, key := range keys {
					if err := c.Exec(sqlDeleteBlob, key); err != nil {
						return err
					}
				}
				return nil
			})
		})
		if err != nil {
			return err
		}
	}
}

// unreference records that no row names the blobs from the log's position on.
func (db *database) unreference(ctx context.Context, keys []string) error {
	if err := db.awaitDurable(ctx); err != nil {
		return err
	}
	v := db.volumes
	return v.cfg.Branches.UnreferenceBlobs(ctx, v.cfg.Ref, branch.Unreferenced{At: uint64(db.log.Position()), Blobs: keys})
}

// auditBlobs unreferences the blobs that the version counts as a holder of but does not name:
// blobs without a row because of a crash, and those of ancestors whose rows were deleted
// before the fork. It logs rows whose blobs are missing.
func (db *database) auditBlobs(ctx context.Context) error {
	if has, err := db.hasBlobs(ctx); err != nil || !has {
		return err
	}
	v := db.volumes
	dropped, err := v.cfg.Branches.UnreferencedBlobs(ctx, v.cfg.Ref)
	if err != nil {
		return err
	}
	a := &blobAudit{db: db, dropped: dropped}
	if err := a.compare(ctx, branch.BlobPrefix(v.cfg.Ref), a.isOld); err != nil {
		return err
	}
	for _, o := range v.manifest.Origins() {
		ref := v.cfg.Ref
		ref.Version = o.Version
		err := a.compare(ctx, branch.BlobPrefix(ref), func(b branch.Blob, _ time.Time) bool { return b.Since <= o.TXID })
		if err != nil {
			return err
		}
	}
	if len(a.missing) > 0 {
		v.cfg.Logger.ErrorContext(ctx, "bodies of objects are missing in the object store", "bodies", len(a.missing), "first", a.missing[0])
	}
	if len(a.unnamed) == 0 {
		return nil
	}
	// A new owner may have stored the blobs just listed.
	if err := v.cfg.Branches.Holds(ctx, *v.grant); err != nil {
		return err
	}
	if err := db.unreference(ctx, a.unnamed); err != nil {
		return err
	}
	v.cfg.Logger.InfoContext(ctx, "unnamed bodies marked for deletion", "bodies", len(a.unnamed))
	return nil
}

// blobAudit is one comparison of the stored blobs with those that rows name.
type blobAudit struct {
	db               *database
	dropped          map[branch.Blob]bool
	unnamed, missing []string
}

// isOld reports whether a blob of this version is too old to be referenced.
func (a *blobAudit) isOld(b branch.Blob, stored time.Time) bool {
	return time.Since(b.Made()) > orphanAge && time.Since(stored) > orphanAge
}

// compare audits the blobs below prefix. held reports whether the version counts as a holder
// of a blob. Rows are read after the listing and while no writer runs, so a blob that is not
// named then never will be.
func (a *blobAudit) compare(ctx context.Context, prefix string, held func(branch.Blob, time.Time) bool) error {
	const page = 1000
	for last, more := prefix, true; more; {
		infos, err := a.db.volumes.cfg.Bucket.List(ctx, prefix, after(prefix, last), page)
		if err != nil {
			return fmt.Errorf("list bodies: %w", err)
		}
		more = len(infos) == page
		upTo := prefix + "g" // after all keys, which are in hex
		if more {
			upTo = infos[page-1].Key
		}
		named, err := a.named(ctx, last, upTo)
		if err != nil {
			return err
		}
		for _, info := range infos {
			b, ok := branch.ParseBlob(info.Key)
			_, isNamed := named[info.Key]
			if ok && !isNamed && !a.dropped[b] && held(b, info.Modified) {
				a.unnamed = append(a.unnamed, info.Key)
			}
			delete(named, info.Key)
		}
		if err := a.lookFor(ctx, named); err != nil {
			return err
		}
		last = upTo
	}
	return nil
}

// after is the key after which to list, "" for the first page.
func after(prefix, last string) string {
	if last == prefix {
		return ""
	}
	return last
}

// named are the keys that rows name (true) or named before (false).
func (a *blobAudit) named(ctx context.Context, last, upTo string) (keys map[string]bool, err error) {
	keys = map[string]bool{}
	err = a.db.write(ctx, func(c *raw.Conn) error {
		return c.Query(sqlBlobsOf, []any{last, upTo}, func(s *raw.Stmt) error {
			keys[s.Text(0)] = s.Int64(1) == 0
			return nil
		})
	})
	return keys, err
}

// lookFor requests the blobs that a listing did not show.
func (a *blobAudit) lookFor(ctx context.Context, keys map[string]bool) error {
	for key, live := range keys {
		if !live {
			continue
		}
		_, err := a.db.volumes.cfg.Bucket.Stat(ctx, key)
		if errors.Is(err, objstore.ErrNotExist) {
			a.missing = append(a.missing, key)
		} else if err != nil {
			return fmt.Errorf("find body: %w", err)
		}
	}
	return nil
}
