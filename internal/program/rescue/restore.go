package rescue

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/client/cli/whole"
	"github.com/svcctl/svcctl/internal/server/daemon"
	"github.com/svcctl/svcctl/internal/server/registry"
	"github.com/svcctl/svcctl/internal/server/upkeep/backup"
	"github.com/svcctl/svcctl/internal/svc"
)

// restored is what a restore did.
type restored struct {
	Node    string    `json:"node"`
	At      time.Time `json:"at"` // what was acknowledged before is there
	Schema  int       `json:"schema"`
	DataDir string    `json:"data_dir"`
}

func restore(ctx context.Context, k *kit.Kit, r whole.Restore) error {
	cfg, err := settings(k, r.Place)
	if err != nil {
		return err
	}
	if r.From == "" {
		return kit.Usagef("--from is required: s3://%s, or the place of a backup", cfg.ArtifactsBucket)
	}
	key := cfg.RecoveryKey
	if r.KeyFile != "" {
		text, err := os.ReadFile(r.KeyFile)
		if err != nil {
			return kit.Usagef("--key-file: %v", err)
		}
		key = svc.Secret(strings.TrimSpace(string(text)))
	}
	if key == "" {
		return kit.Usagef("the recovery key is required: --key-file FILE, or SVC_RECOVERY_KEY")
	}
	bucket, err := open(ctx, cfg, r.From)
	if err != nil {
		return err
	}
	nodes, err := backup.Nodes(ctx, bucket)
	if err != nil {
		return err
	}
	node, err := one(nodes, r.Node)
	if err != nil {
		return err
	}
	state, err := backup.Read(ctx, bucket, node, key)
	if err != nil {
		return err
	}
	if err := registry.CheckSchema(state.Schema); err != nil {
		return err
	}
	if err := daemon.Rebuild(cfg, state); err != nil {
		return err
	}
	done := restored{Node: node, At: state.At, Schema: state.Schema, DataDir: cfg.DataDir}
	return k.Print(done, func() {
		k.Printf("restored the registry of %s, as of %s, into %s", node, state.At.Format(time.RFC3339), cfg.DataDir)
		k.Printf("start the server with the settings of the lost one, then run: svcctl admin verify")
	})
}
