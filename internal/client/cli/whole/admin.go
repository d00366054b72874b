package whole

import (
	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
)

// Place says which server on this machine a command works on: by its data directory or its config
// file. Both are "" for the server of the service.
type Place struct{ DataDir, File string }

func (p *Place) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.DataDir, "data-dir", "", "data directory of the server (default: that of the server on this machine)")
	cmd.Flags().StringVarP(&p.File, "config", "c", "", "config file of the server")
}

// Restore are the flags of svcctl admin restore.
type Restore struct {
	Place

	From, Node, KeyFile string
}

func (r Runs) backup(k *kit.Kit) *cobra.Command {
	var p Place
	cmd := &cobra.Command{
		Use: "backup FILE.backup|DIRECTORY|s3://BUCKET[/PREFIX]", Short: "Copy the registry of the server on this machine", Args: cobra.ExactArgs(1),
		Long: "Copies the registry, the generated tokens and the identity of the server, encrypted with its recovery key, while the server runs. " +
			"A name that ends with .backup is one file with everything, which a repeat replaces. In a directory or a bucket a repeat stores only what changed. The command reads the copy back and compares it. " +
			"The object store is not part of it: copy the directory object-store of an embedded one afterwards.",
		RunE: func(cmd *cobra.Command, args []string) error { return r.Backup(cmd.Context(), k, p, args[0]) },
	}
	p.flags(cmd)
	return cmd
}

func (r Runs) restore(k *kit.Kit) *cobra.Command {
	var o Restore
	cmd := &cobra.Command{
		Use: "restore --from FILE|DIRECTORY|s3://BUCKET[/PREFIX]", Short: "Rebuild the registry of a lost server on this machine", Args: cobra.NoArgs,
		Long: "Writes the newest copy of a registry, with the tokens and the identity of its server, into an empty data directory. " +
			"The server that starts there serves the versions, whose bundles and data it reads from the object store. " +
			"With S3_ENDPOINT a server copies its registry to the bucket SVC_ARTIFACTS_BUCKET: --from s3://svc-artifacts. " +
			"The recovery key is read from --key-file, else from SVC_RECOVERY_KEY. The lost server must not run any more.",
		RunE: func(cmd *cobra.Command, _ []string) error { return r.Restore(cmd.Context(), k, o) },
	}
	o.flags(cmd)
	cmd.Flags().StringVar(&o.From, "from", "", "place of the copy")
	cmd.Flags().StringVar(&o.Node, "node", "", "identity of the lost server, if several have copies there")
	cmd.Flags().StringVar(&o.KeyFile, "key-file", "", "file with the recovery key")
	return cmd
}

func (r Runs) verify(k *kit.Kit) *cobra.Command {
	var p Place
	cmd := &cobra.Command{
		Use: "verify", Short: "Check registry, object store and disk of the server against each other", Args: cobra.NoArgs,
		Long: "Checks that the file of the registry is sound, that the object store has the bundle of each ready or archived version, " +
			"that every database can be restored (as admin gc --audit), that the data directory has no data of unknown versions, and that " +
			"the copy of the registry is current. Run it on the machine of a running server. It changes nothing, and exits with 1 if it finds a problem.",
		RunE: func(cmd *cobra.Command, _ []string) error { return r.Verify(cmd.Context(), k, p) },
	}
	p.flags(cmd)
	return cmd
}

func (r Runs) key(k *kit.Kit) *cobra.Command {
	var p Place
	cmd := &cobra.Command{
		Use: "recovery-key", Short: "Print the key that decrypts the copies of the registry", Args: cobra.NoArgs,
		Long: "Prints the recovery key of the server on this machine. Keep it where a loss of the machine does not reach it: " +
			"without it the copies of the registry cannot be restored.",
		RunE: func(*cobra.Command, []string) error { return r.Key(k, p) },
	}
	p.flags(cmd)
	return cmd
}

func (r Runs) hosts(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{Use: "hosts", Short: "Let machines run versions for the server on this machine"}
	cmd.AddCommand(r.token(k))
	return cmd
}

func (r Runs) token(k *kit.Kit) *cobra.Command {
	var (
		p      Place
		rotate bool
	)
	cmd := &cobra.Command{
		Use: "token", Short: "Print the token with which svcd host joins the server on this machine", Args: cobra.NoArgs,
		Long: "Prints the join token, a secret, and makes it if there was none. It has the form svchost.PIN.SECRET: PIN identifies the " +
			"certificate authority of the server. --rotate makes another secret: machines with the token before cannot join any more; those that have joined stay until their line ends.",
		RunE: func(*cobra.Command, []string) error { return r.Token(k, p, rotate) },
	}
	p.flags(cmd)
	cmd.Flags().BoolVar(&rotate, "rotate", false, "replace the secret")
	return cmd
}
