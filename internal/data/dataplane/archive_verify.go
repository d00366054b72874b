package dataplane

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/cowvfs"
	"github.com/svcctl/svcctl/internal/data/replica"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/svc"
)

// errUnsound says that what the object store returned is not the version's data.
var errUnsound = errors.New("the restored database is wrong")

// unarchived returns err, which ended Archive, as an error for users. Only what the object store
// returned says that it cannot restore what, not that it did not answer.
func unarchived(err error, what string) error {
	var known *svc.Error
	var damaged *replica.CorruptError
	switch {
	case err == nil, errors.As(err, &known):
		return err
	case errors.Is(err, branch.ErrLost), errors.Is(err, branch.ErrFenced):
		return revokedError(err)
	case errors.As(err, &damaged), errors.Is(err, branch.ErrNotRestorable), errors.Is(err, errUnsound):
		return svc.Errorf(svc.Internal, svc.CodeArchiveUnverified, "%s cannot be restored from the object store; the local files are kept", what).Because(err)
	}
	return svc.Errorf(svc.Unavailable, svc.CodeDataUnavailable, "%s is not archived: the object store does not answer, or the disk fails; the local files are kept", what).
		WithHint("read GET /v1/health/deep, and archive the version again").Because(err)
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
		if err = sound(ctx, tmp); err != nil && ctx.Err() == nil {
			err = fmt.Errorf("%w: %w", errUnsound, err)
		}
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
			return fmt.Errorf("%w: it differs from the local file between bytes %d and %d", errUnsound, at, at+chunk)
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
