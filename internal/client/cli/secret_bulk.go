package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/client/dotenv"
	"github.com/svcctl/svcctl/internal/lib/keyring"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

func newSecretBulk(k *kit.Kit) *cobra.Command {
	var o secretOptions
	cmd := &cobra.Command{
		Use: "bulk [FILE]", Short: "Set and delete several secrets from a file", Args: cobra.MaximumNArgs(1),
		Long:    "Sets the secrets of a file, as .env or a JSON object of strings, in one change; null in the JSON object deletes a secret. Without FILE, or with \"-\", it reads standard input. Other secrets stay.",
		Example: "  svcctl secret bulk secrets.json\n  vault kv get -format=json -field=data secret/shop | svcctl secret bulk",
		RunE: func(cmd *cobra.Command, args []string) error {
			return changeSecrets(cmd.Context(), k, o, func(ctx context.Context, c *client.Client, project string) (api.SecretsChanged, error) {
				secrets, err := readSecrets(k, append(args, "-")[0])
				if err != nil {
					return api.SecretsChanged{}, err
				}
				return c.ChangeSecrets(ctx, project, secrets, o.class())
			})
		},
	}
	o.flags(cmd)
	return cmd
}

// readSecrets reads a file of secrets. No error holds a value.
func readSecrets(k *kit.Kit, name string) (map[string]*string, error) {
	text, err := k.ReadFile(name)
	if err != nil {
		return nil, err
	}
	secrets := map[string]*string{}
	if len(text) > 0 && json.Valid(text) && json.Unmarshal(text, &secrets) == nil { // with null
		return secrets, nil
	}
	values, err := dotenv.ParseAny(text)
	if err != nil {
		return nil, kit.Usagef("%s: %v", name, err)
	}
	if len(values) == 0 {
		return nil, kit.Usagef("%s has no secrets", name)
	}
	for key, value := range values {
		secrets[key] = &value
	}
	return secrets, nil
}

func newAdminSecrets(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{Use: "secrets", Short: "Make and change the key that seals the secrets of projects", RunE: serveHelp}
	cmd.AddCommand(newSecretsKey(k), newSecretsReseal(k))
	return cmd
}

func newSecretsKey(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "key [ID]", Short: "Print a new key for SVC_SECRETS_KEY", Args: cobra.MaximumNArgs(1),
		Long: "Makes a new key and prints it as a line of SVC_SECRETS_KEY, ID:KEY. It asks no server and stores nothing. The id is today's date if none is given. " +
			"Keep the line where no copy of the data directory is, such as a credential of systemd: who has both reads all secrets.",
		Example: "  svcctl admin secrets key > /etc/credstore/svc_secrets_key",
		RunE: func(_ *cobra.Command, args []string) error {
			id := append(args, time.Now().UTC().Format(time.DateOnly))[0]
			line, err := keyring.NewLine(id)
			if err != nil {
				return kit.Usagef("%q: %v", id, err)
			}
			return k.Print(map[string]string{"id": id, "line": line}, func() { fmt.Fprintln(k.Out, line) })
		},
	}
}

func newSecretsReseal(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "reseal", Short: "Seal all secrets with the first key of SVC_SECRETS_KEY", Args: cobra.NoArgs,
		Long: "Seals each secret that another key of SVC_SECRETS_KEY sealed with the first one. To change the key: add a new first line, send the server SIGHUP (systemctl reload svcd), " +
			"run this, and remove the other lines. It exits with 1 if a secret does not open with any key.",
		RunE: func(cmd *cobra.Command, _ []string) error { return reseal(cmd.Context(), k) },
	}
}

func reseal(ctx context.Context, k *kit.Kit) error {
	c, err := k.Client()
	if err != nil {
		return err
	}
	done, err := c.ResealSecrets(ctx)
	if err != nil {
		return err
	}
	if err := k.Print(done, func() { showResealed(k.Out, done) }); err != nil || len(done.Unreadable) == 0 {
		return err
	}
	return fmt.Errorf("%d secrets do not open: keep the earlier keys, or put the secrets again", len(done.Unreadable))
}

func showResealed(out io.Writer, done api.Resealed) {
	fmt.Fprintf(out, "%d secrets sealed with the key %s\n", done.Resealed, kit.Clean(done.SealingKey))
	for _, s := range done.Unreadable {
		fmt.Fprintf(out, "no key opens %s of %s (%s)\n", s.Name, s.ProjectID, s.Class)
	}
}
