package rescue

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/client/cli/whole"
	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/lib/text"
	"github.com/svcctl/svcctl/internal/server/daemon"
	"github.com/svcctl/svcctl/internal/server/upkeep/backup"
)

// done is what a backup did.
type done struct {
	Node    string    `json:"node"`
	At      time.Time `json:"at"`
	Schema  int       `json:"schema"`
	Bytes   int       `json:"bytes"`   // of the registry
	Written int64     `json:"written"` // bytes
}

func backUp(ctx context.Context, k *kit.Kit, p whole.Place, where string) error {
	cfg, err := settings(k, p)
	if err != nil {
		return err
	}
	i, err := daemon.Identify(cfg)
	if err != nil {
		return err
	}
	at := time.Now()
	database, err := snapshot(ctx, cfg.RegistryDB)
	if err != nil {
		return err
	}
	d := done{Node: i.Node, At: at.UTC(), Schema: backup.Schema(database), Bytes: len(database)}
	write := toChain
	if strings.HasSuffix(where, fileSuffix) && !strings.HasPrefix(where, "s3://") {
		write = toFile
	}
	var bucket objstore.Bucket
	if bucket, d.Written, err = write(ctx, cfg, where, source{i, database, at, k.Notef}); err != nil {
		return err
	}
	stored, err := backup.Read(ctx, bucket, i.Node, i.Key)
	if err != nil {
		return fmt.Errorf("check the backup: %w", err)
	}
	if !bytes.Equal(stored.Database, database) {
		return fmt.Errorf("check the backup: %s has another registry of %s: another backup runs", where, stored.At.Format(time.RFC3339))
	}
	if err := record(cfg.DataDir, d.At, where); err != nil {
		return err
	}
	return k.Print(d, func() {
		k.Printf("backed up and checked: registry of %s, schema %d; %s written to %s", text.Bytes(int64(d.Bytes)), d.Schema, text.Bytes(d.Written), where)
	})
}

// source is what a backup copies.
type source struct {
	identity daemon.Identity
	database []byte
	at       time.Time
	notef    func(format string, args ...any) // says what the copy waits for
}

// toChain appends a copy in a directory or a bucket.
func toChain(ctx context.Context, cfg *config.Daemon, where string, s source) (objstore.Bucket, int64, error) {
	bucket, err := openChain(ctx, cfg, where)
	if err != nil {
		return nil, 0, err
	}
	n, err := s.appendTo(ctx, &finite{Bucket: bucket, notef: s.notef})
	return bucket, n, err
}

// toFile writes a copy to one file, and returns what is in it.
func toFile(ctx context.Context, _ *config.Daemon, where string, s source) (objstore.Bucket, int64, error) {
	memory := &memstore.Bucket{}
	if _, err := s.appendTo(ctx, memory); err != nil {
		return nil, 0, err
	}
	n, err := backup.WriteFile(ctx, where, memory)
	if err != nil {
		return nil, 0, err
	}
	bucket, err := backup.ReadFile(ctx, where)
	return bucket, n, err
}

func (s source) appendTo(ctx context.Context, bucket objstore.Bucket) (int64, error) {
	log, err := backup.Open(ctx, bucket, s.identity.Node, s.identity.Key, false)
	if err != nil {
		return 0, err
	}
	return log.Append(ctx, s.database, s.identity.Files, s.at)
}

// record lets the server say when and where it was backed up.
func record(dataDir string, at time.Time, where string) error {
	if !strings.HasPrefix(where, "s3://") {
		var err error
		if where, err = filepath.Abs(where); err != nil {
			return err
		}
	}
	return backup.WriteRecord(dataDir, backup.Record{At: at, To: where})
}
