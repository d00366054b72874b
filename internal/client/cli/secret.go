package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

func newSecret(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{
		Use: "secret", Short: "Set the sealed secrets of a project", RunE: serveHelp,
		Long: "Sets, lists and deletes the secrets of a project. The worker finds a secret in its env, under a name that neither its bundle nor an override has. " +
			"The server keeps values sealed with a key that lies outside of its data directory (SVC_SECRETS_KEY), and nothing prints them again. " +
			"A change restarts the versions that use the name; their requests wait meanwhile, and production keeps the earlier values if it does not start. " +
			"Previews and versions of pull requests get the secrets that --previews sets, and no others.\nGuide: docs/guide/secrets.md",
	}
	list, set := newSecretList(k), []*cobra.Command{newSecretPut(k), newSecretDelete(k), newSecretBulk(k), newSecretRollback(k)}
	addYes(k, set...)
	cmd.AddCommand(list)
	cmd.AddCommand(set...)
	return cmd
}

// secretOptions are the flags of the verbs of secret.
type secretOptions struct {
	project  string
	previews bool
}

func (o *secretOptions) flags(cmd *cobra.Command) {
	projectFlag(cmd, &o.project)
	cmd.Flags().BoolVar(&o.previews, "previews", false, "the secret of previews and pull requests (default: of all other versions)")
}

func (o *secretOptions) class() api.SecretClass {
	if o.previews {
		return api.SecretClassPreview
	}
	return api.SecretClassRelease
}

func newSecretList(k *kit.Kit) *cobra.Command {
	var o secretOptions
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List the secrets of a project, without values", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return listSecrets(cmd.Context(), k, o.project) },
	}
	projectFlag(cmd, &o.project)
	return cmd
}

func listSecrets(ctx context.Context, k *kit.Kit, named string) error {
	c, project, err := projectAt(k, named)
	if err != nil {
		return err
	}
	list, err := c.Secrets(ctx, project)
	if err != nil {
		return err
	}
	if list.SealingKey == "" {
		k.Notef("the server keeps no secrets: it has no SVC_SECRETS_KEY")
	}
	return k.Print(list.Items, func() { showSecrets(k, list) })
}

func showSecrets(k *kit.Kit, list api.SecretList) {
	header := []string{"NAME", "CLASS", "CHANGED", "BY"}
	if k.Wide() {
		header = append(header, "KEY", "PREVIOUS")
	}
	k.Table(header, kit.Rows(list.Items, func(s api.Secret) []string {
		row := []string{s.Name, string(s.Class), s.UpdatedAt.Local().Format(time.DateTime), s.UpdatedBy}
		if k.Wide() {
			row = append(row, s.KeyID, yesNo(s.HasPrevious))
		}
		return row
	}))
}

func newSecretPut(k *kit.Kit) *cobra.Command {
	var o secretOptions
	cmd := &cobra.Command{
		Use: "put NAME", Aliases: []string{"set"}, Short: "Set a secret; the value comes from standard input or a prompt", Args: cobra.ExactArgs(1),
		Long:    "Sets a secret. On a terminal it asks for the value and does not show it; elsewhere it reads standard input. Line ends at the end of the value do not count.",
		Example: "  svcctl secret put STRIPE_KEY\n  svcctl secret put STRIPE_KEY --previews < test-key.txt",
		RunE: func(cmd *cobra.Command, args []string) error {
			return changeSecrets(cmd.Context(), k, o, func(ctx context.Context, c *client.Client, project string) (api.SecretsChanged, error) {
				value, err := secretValue(ctx, k, args[0])
				if err != nil {
					return api.SecretsChanged{}, err
				}
				return c.PutSecret(ctx, project, args[0], value, o.class())
			})
		},
	}
	o.flags(cmd)
	return cmd
}

// secretValue reads the value of a secret. No error holds a part of it.
func secretValue(ctx context.Context, k *kit.Kit, name string) (value string, err error) {
	if k.InTTY {
		if !k.CanAsk() {
			return "", kit.Usagef("no prompt for a value here: give it on standard input: svcctl secret put %s < FILE", name)
		}
		value, err = k.Hidden(ctx, "value of "+name+" (not shown): ")
	} else {
		var text []byte
		text, err = k.ReadFile("-")
		value = string(text)
	}
	if value = strings.TrimRight(value, "\r\n"); err == nil && value == "" {
		return "", kit.Usagef("the value of %s is empty", name)
	}
	return value, err
}

func newSecretDelete(k *kit.Kit) *cobra.Command {
	var o secretOptions
	cmd := &cobra.Command{
		Use: "delete NAME", Aliases: []string{"rm"}, Short: "Delete a secret", Args: cobra.ExactArgs(1),
		ValidArgsFunction: sealedSecretNames(k),
		RunE: func(cmd *cobra.Command, args []string) error {
			return changeSecrets(cmd.Context(), k, o, func(ctx context.Context, c *client.Client, project string) (api.SecretsChanged, error) {
				return c.DeleteSecret(ctx, project, args[0], o.class())
			})
		},
	}
	o.flags(cmd)
	return cmd
}

func newSecretRollback(k *kit.Kit) *cobra.Command {
	var o secretOptions
	cmd := &cobra.Command{
		Use: "rollback NAME", Short: "Set a secret to the value before its last change", Args: cobra.ExactArgs(1),
		Long:              "Puts the value before the last change back. A second rollback undoes the first.",
		ValidArgsFunction: sealedSecretNames(k),
		RunE: func(cmd *cobra.Command, args []string) error {
			return changeSecrets(cmd.Context(), k, o, func(ctx context.Context, c *client.Client, project string) (api.SecretsChanged, error) {
				return c.RollbackSecret(ctx, project, args[0], o.class())
			})
		},
	}
	o.flags(cmd)
	return cmd
}

// changeSecrets asks about production, makes a change, and shows what it did.
func changeSecrets(ctx context.Context, k *kit.Kit, o secretOptions, change func(context.Context, *client.Client, string) (api.SecretsChanged, error)) error {
	c, project, err := projectAt(k, o.project)
	if err != nil {
		return err
	}
	if err := askSecrets(ctx, k, c, project, o.class()); err != nil {
		return err
	}
	progress := k.NewProgress()
	defer progress.Abort()
	progress.Stage("changing secrets of " + project)
	done, err := change(ctx, c, project)
	if err != nil {
		return err
	}
	progress.Done("")
	if err := k.Print(done, func() { showChange(k, project, o.class(), done) }); err != nil || len(done.Failed) == 0 {
		return err
	}
	return fmt.Errorf("%d versions do not serve with the change", len(done.Failed))
}

// askSecrets asks before a change that restarts production.
func askSecrets(ctx context.Context, k *kit.Kit, c *client.Client, project string, class api.SecretClass) error {
	if k.Yes || !k.CanAsk() || class != api.SecretClassRelease {
		return nil
	}
	p, err := c.Project(ctx, project)
	if err != nil || p.ProdVersionID == "" {
		return err
	}
	return askProduction(ctx, k, c, bindingOf{Project: project, Version: p.ProdVersionID}, "changes its secrets and restarts it")
}

func showChange(k *kit.Kit, project string, class api.SecretClass, done api.SecretsChanged) {
	names := []string{}
	for _, s := range done.Items {
		if s.Class == class {
			names = append(names, s.Name)
		}
	}
	k.Printf("%s: secrets of %s: %s", project, map[api.SecretClass]string{api.SecretClassRelease: "releases", api.SecretClassPreview: "previews"}[class], orNone(names))
	k.Printf("restarted: %s", orNone(done.Restarted))
	for _, f := range done.Failed {
		k.Printf("does not serve: %s: %s", f.VersionID, kit.Clean(f.Error))
	}
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// sealedSecretNames completes the names of a project's secrets.
func sealedSecretNames(k *kit.Kit) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), completeWithin)
		defer cancel()
		c, project, err := projectAt(k, flagOf(cmd, "project"))
		if err != nil || len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		list, err := c.Secrets(ctx, project)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var names []string
		for _, s := range list.Items {
			if strings.HasPrefix(s.Name, typed) {
				names = append(names, s.Name)
			}
		}
		return slices.Compact(names), cobra.ShellCompDirectiveNoFileComp
	}
}

// previewClass reports whether a version gets the secrets of previews.
func previewClass(list api.SecretList, req api.CreateVersion) bool {
	v := svc.Version{PreviewName: req.PreviewName, GitRef: req.GitRef}
	return svc.ForkPolicy{PRRefs: list.PreviewRefs}.SecretClass(v) == svc.SecretPreview
}
