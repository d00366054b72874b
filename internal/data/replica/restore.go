package replica

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/google/renameio/v2"

	"github.com/svcctl/svcctl/internal/lib/atomicfile"
)

// Restore writes the database right after txid to path. On success the file is complete,
// checked against the checksums of all its source files, and synced; on failure path is
// unchanged. Transaction 0 is an empty file.
func (l *Log) Restore(ctx context.Context, txid TXID, path string) error {
	plan, err := l.Plan(txid)
	if err != nil {
		return err
	}
	src, err := l.Source(ctx, plan, nil)
	if err != nil {
		return fmt.Errorf("restore %s at %d: %w", l.prefix, txid, err)
	}
	if err := src.Restore(ctx, path); err != nil {
		return fmt.Errorf("restore %s at %d: %w", l.prefix, txid, err)
	}
	return nil
}

// Restore writes the whole database to path, see Log.Restore.
func (s *Source) Restore(ctx context.Context, path string) (err error) {
	dir := filepath.Dir(path)
	tmp, err := renameio.NewPendingFile(path, renameio.WithTempDir(dir))
	if err != nil {
		return fmt.Errorf("create restored file: %w", err)
	}
	defer func() { _ = tmp.Cleanup() }() // after an error, which is reported instead
	if err := tmp.Truncate(int64(len(s.where)) * int64(s.pageSize)); err != nil {
		return fmt.Errorf("resize restored file: %w", err)
	}
	err = s.Hydrate(ctx, func(pgno uint32, pages []byte) error {
		_, err := tmp.WriteAt(pages, int64(pgno-1)*int64(s.pageSize))
		return err
	})
	if err != nil {
		return err
	}
	if err := tmp.CloseAtomicallyReplace(); err != nil {
		return fmt.Errorf("place restored file: %w", err)
	}
	if err := atomicfile.SyncDir(dir); err != nil {
		return fmt.Errorf("sync directory of restored file: %w", err)
	}
	return nil
}
