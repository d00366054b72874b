package dataplane

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/svcctl/svcctl/internal/branch"
	"github.com/svcctl/svcctl/internal/objstore"
	"github.com/svcctl/svcctl/internal/sqlite/raw"
)

// The paces of what goes on about blobs. A version without blobs asks nothing.
const (
	tellSoon   = time.Minute      // after opening, for what another process left
	tellEvery  = 10 * time.Minute // after a blob was dropped
	firstAudit = time.Hour
	auditEvery = 24 * time.Hour
	tellAtOnce = 10_000 // blobs
)

const (
	sqlHasBlobs   = `SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'blob'`
	sqlDeadBlobs  = `SELECT key FROM blob WHERE dead = 1 LIMIT ?1`
	sqlForgetBlob = `DELETE FROM blob WHERE key = ?1 AND dead = 1`
	// ?1 the last key before, ?2 the last key.
	sqlBlobsOf = `SELECT key, dead FROM blob WHERE key > ?1 AND key <= ?2`
)

// collectBlobs tells the object store which blobs are dropped, and holds what is
// there against the rows now and then, until ctx ends.
func (s *store) collectBlobs(ctx context.Context) {
	audit := time.NewTimer(firstAudit)
	defer audit.Stop()
	tell := time.NewTimer(tellSoon)
	defer tell.Stop()
	log := s.volumes.cfg.Logger
	for waiting := true; ; {
		select {
		case <-ctx.Done():
			return
		case <-s.blobDropped:
			if !waiting {
				tell.Reset(tellEvery)
			}
			waiting = true
		case <-tell.C:
			waiting = false
			if err := s.tellDropped(ctx); err != nil && ctx.Err() == nil {
				log.WarnContext(ctx, "the object store was not told of bodies that nothing names any more", "error", err)
				tell.Reset(tellEvery)
				waiting = true
			}
		case <-audit.C:
			audit.Reset(auditEvery)
			if err := s.auditBlobs(ctx); err != nil && ctx.Err() == nil {
				log.WarnContext(ctx, "the bodies in the object store were not compared with the rows that name them", "error", err)
			}
		}
	}
}

// hasBlobs tells whether the version ever named a blob.
func (s *store) hasBlobs(ctx context.Context) (has bool, err error) {
	err = s.read(ctx, func(c *raw.Conn) error {
		return c.Query(sqlHasBlobs, nil, func(*raw.Stmt) error { has = true; return nil })
	})
	return has, err
}

// tellDropped notes in the object store what was dropped, once the log has it,
// and forgets it here. A crash in between repeats some of it.
func (s *store) tellDropped(ctx context.Context) error {
	if has, err := s.hasBlobs(ctx); err != nil || !has {
		return err
	}
	for {
		var keys []string
		err := s.read(ctx, func(c *raw.Conn) error {
			return c.Query(sqlDeadBlobs, []any{tellAtOnce}, func(s *raw.Stmt) error {
				keys = append(keys, s.Text(0))
				return nil
			})
		})
		if err != nil || len(keys) == 0 {
			return err
		}
		if err := s.dropBlobs(ctx, keys); err != nil {
			return err
		}
		err = s.write(ctx, func(c *raw.Conn) error {
			return c.InTx("BEGIN IMMEDIATE", func() error {
				for _, key := range keys {
					if err := c.Exec(sqlForgetBlob, key); err != nil {
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

// dropBlobs notes that no row names the blobs from where the log will then be.
func (s *store) dropBlobs(ctx context.Context, keys []string) error {
	if err := s.seenDurable(ctx); err != nil {
		return err
	}
	v := s.volumes
	return v.cfg.Branches.DropBlobs(ctx, v.cfg.Ref, branch.Dropped{At: uint64(s.log.Position()), Blobs: keys})
}

// auditBlobs drops what the version is taken to hold and does not name: blobs
// whose row a crash prevented, and those of ancestors that were gone before it
// branched off. It complains about rows whose blobs are not there.
func (s *store) auditBlobs(ctx context.Context) error {
	if has, err := s.hasBlobs(ctx); err != nil || !has {
		return err
	}
	v := s.volumes
	dropped, err := v.cfg.Branches.DroppedBlobs(ctx, v.cfg.Ref)
	if err != nil {
		return err
	}
	a := &blobAudit{store: s, dropped: dropped}
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
	// Whoever took over in the meantime may have stored what was just listed.
	if err := v.cfg.Branches.Holds(ctx, *v.grant); err != nil {
		return err
	}
	if err := s.dropBlobs(ctx, a.unnamed); err != nil {
		return err
	}
	v.cfg.Logger.InfoContext(ctx, "bodies that nothing names are given up", "bodies", len(a.unnamed))
	return nil
}

// blobAudit is one comparison of what is stored with what rows name.
type blobAudit struct {
	store            *store
	dropped          map[branch.Blob]bool
	unnamed, missing []string
}

// isOld tells whether a blob of this version's own is too old to be kept yet.
func (a *blobAudit) isOld(b branch.Blob, stored time.Time) bool {
	return time.Since(b.Made()) > orphanAge && time.Since(stored) > orphanAge
}

// compare goes through the blobs below prefix. held tells whether the version is
// taken to hold one. Rows are read after the listing and while none is written,
// so what is not named then never will be.
func (a *blobAudit) compare(ctx context.Context, prefix string, held func(branch.Blob, time.Time) bool) error {
	const page = 1000
	for last, more := prefix, true; more; {
		infos, err := a.store.volumes.cfg.Bucket.List(ctx, prefix, after(prefix, last), page)
		if err != nil {
			return fmt.Errorf("list bodies: %w", err)
		}
		more = len(infos) == page
		upTo := prefix + "g" // beyond all, which go on in hex
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

// after is the key to list on after: none at first.
func after(prefix, last string) string {
	if last == prefix {
		return ""
	}
	return last
}

// named are the keys that rows name or named, true for those that they do.
func (a *blobAudit) named(ctx context.Context, last, upTo string) (keys map[string]bool, err error) {
	keys = map[string]bool{}
	err = a.store.write(ctx, func(c *raw.Conn) error {
		return c.Query(sqlBlobsOf, []any{last, upTo}, func(s *raw.Stmt) error {
			keys[s.Text(0)] = s.Int64(1) == 0
			return nil
		})
	})
	return keys, err
}

// lookFor asks for what a listing did not show.
func (a *blobAudit) lookFor(ctx context.Context, keys map[string]bool) error {
	for key, live := range keys {
		if !live {
			continue
		}
		_, err := a.store.volumes.cfg.Bucket.Stat(ctx, key)
		if errors.Is(err, objstore.ErrNotExist) {
			a.missing = append(a.missing, key)
		} else if err != nil {
			return fmt.Errorf("look for a body: %w", err)
		}
	}
	return nil
}
