package rescue

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/server/backup"
	"github.com/svcctl/svcctl/internal/server/daemon"
	"github.com/svcctl/svcctl/internal/server/registry"
	"github.com/svcctl/svcctl/internal/svc"
)

type restoring struct {
	place

	from, node, keyFile string
}

func newRestore(k *kit.Kit) *cobra.Command {
	var r restoring
	cmd := &cobra.Command{
		Use: "restore --from FILE|DIRECTORY|s3://BUCKET[/PREFIX]", Short: "Rebuild the registry of a lost server on this machine", Args: cobra.NoArgs,
		Long: "Writes the newest copy of a registry, with the tokens and the identity of its server, into an empty data directory. " +
			"The server that starts there serves the versions, whose bundles and data it reads from the object store. " +
			"With S3_ENDPOINT a server copies its registry to the bucket SVC_ARTIFACTS_BUCKET: --from s3://svc-artifacts. " +
			"The recovery key is read from --key-file, else from SVC_RECOVERY_KEY. The lost server must not run any more.",
		RunE: func(cmd *cobra.Command, _ []string) error { return r.run(cmd.Context(), k) },
	}
	r.flags(cmd)
	cmd.Flags().StringVar(&r.from, "from", "", "place of the copy")
	cmd.Flags().StringVar(&r.node, "node", "", "identity of the lost server, if several have copies there")
	cmd.Flags().StringVar(&r.keyFile, "key-file", "", "file with the recovery key")
	return cmd
}

// restored is what a restore did.
type restored struct {
	Node    string    `json:"node"`
	At      time.Time `json:"at"` // what was acknowledged before is there
	Schema  int       `json:"schema"`
	DataDir string    `json:"data_dir"`
}

func (r *restoring) run(ctx context.Context, k *kit.Kit) error {
	cfg, err := r.settings(k)
	if err != nil {
		return err
	}
	if r.from == "" {
		return kit.Usagef("--from is required: s3://%s, or the place of a backup", cfg.ArtifactsBucket)
	}
	key := cfg.RecoveryKey
	if r.keyFile != "" {
		text, err := os.ReadFile(r.keyFile)
		if err != nil {
			return kit.Usagef("--key-file: %v", err)
		}
		key = svc.Secret(strings.TrimSpace(string(text)))
	}
	if key == "" {
		return kit.Usagef("the recovery key is required: --key-file FILE, or SVC_RECOVERY_KEY")
	}
	bucket, err := open(ctx, cfg, r.from)
	if err != nil {
		return err
	}
	nodes, err := backup.Nodes(ctx, bucket)
	if err != nil {
		return err
	}
	node, err := one(nodes, r.node)
	if err != nil {
		return err
	}
	state, err := backup.Read(ctx, bucket, node, key)
	if err != nil {
		return err
	}
	if err := known(state); err != nil {
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

// known rejects the registry of a newer program before it is written.
func known(s *backup.State) error {
	if newest := registry.SchemaVersion(); s.Schema > newest {
		return svc.Errorf(svc.Unprocessable, svc.CodeFormatNewer, "the registry has the schema version %d, this program knows %d", s.Schema, newest).
			WithHint("restore it with the release that wrote it, or a later one")
	}
	return nil
}
