package cli

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/client/dotenv"
	"github.com/svcctl/svcctl/pkg/api"
)

type projectSettings struct {
	parent  string
	vars    []string
	secrets []string
	removed []string

	guard    bool
	readOnly bool
	given    func(flag string) bool
}

func newProjectsSet(k *kit.Kit) *cobra.Command {
	var o projectSettings
	cmd := &cobra.Command{
		Use: "set [PROJECT]", Short: "Change settings of a project", Args: cobra.MaximumNArgs(1),
		Long: "Changes what holds for the previews of a project (svcctl preview): the version that the first version of a preview branches, and\n" +
			"variables and secrets of all previews. Variables reach a preview with its next version.\n" +
			"--guard makes the server refuse a promote that leaves writes of production behind, unless --leave-writes is given. --read-only refuses requests\n" +
			"other than GET, HEAD and OPTIONS, writes of bindings, and events. --guard=false and --read-only=false turn them off.\n" + dataGuide,
		Example: "  svcctl projects set shop --guard\n  svcctl projects set shop --read-only=false\n  svcctl projects set shop --preview-parent staging\n  svcctl projects set shop --preview-var MODE:preview --preview-secrets-file secrets.env",
		RunE: func(cmd *cobra.Command, args []string) error {
			name := ""
			if len(args) == 1 {
				name = args[0]
			}
			o.given = cmd.Flags().Changed
			return setProject(cmd.Context(), k, o, name)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.parent, "preview-parent", "", `version whose data new previews begin with ("" for none)`)
	f.StringArrayVar(&o.vars, "preview-var", nil, "variable of all previews, NAME=VALUE or NAME:VALUE; may be repeated")
	f.StringArrayVar(&o.secrets, "preview-secrets-file", nil, `file of secrets of all previews, as .env or a JSON object; "-" for standard input; sealed where the server has SVC_SECRETS_KEY`)
	f.StringArrayVar(&o.removed, "preview-unset", nil, "variable of all previews to remove; may be repeated")
	f.BoolVar(&o.guard, "guard", false, "refuse promotes that leave writes of production behind")
	f.BoolVar(&o.readOnly, "read-only", false, "refuse all writes of the project")
	_ = cmd.RegisterFlagCompletionFunc("preview-parent", versionNames(k)) // it exists
	return cmd
}

func setProject(ctx context.Context, k *kit.Kit, o projectSettings, name string) error {
	project, err := projectOr(k, name)
	if err != nil {
		return err
	}
	change, secrets, err := o.change(k)
	if err != nil {
		return err
	}
	c, err := k.Client()
	if err != nil {
		return err
	}
	if err := (envCall{k: k, c: c, project: project}).sealPreviewSecrets(ctx, secrets, &change); err != nil {
		return err
	}
	p, err := c.ChangeProject(ctx, project, change)
	if err != nil {
		return kit.InFlags(err, map[string]string{"/preview_parent": "--preview-parent", "/preview_env": "--preview-var"})
	}
	return k.Print(p, func() {
		k.Printf("%s: preview parent %s, variables of previews: %s", p.ID, cmp.Or(p.PreviewParent, "none"), cmp.Or(strings.Join(slices.Sorted(maps.Keys(p.PreviewEnv)), ", "), "none"))
		showModes(k, p)
	})
}

// sealPreviewSecrets makes the secrets sealed ones of the class preview, where the server has a key, and
// else variables of previews. A variable of the same name goes: it would win over the secret.
func (e envCall) sealPreviewSecrets(ctx context.Context, secrets map[string]*string, change *api.ChangeProject) error {
	if len(secrets) == 0 {
		return nil
	}
	list, err := e.c.Secrets(ctx, e.project)
	if err != nil {
		return err
	}
	if list.SealingKey == "" {
		maps.Copy(change.PreviewEnv, secrets)
		return nil
	}
	done, err := e.c.ChangeSecrets(ctx, e.project, secrets, api.SecretClassPreview)
	if err != nil {
		return err
	}
	for name := range secrets {
		if _, variable := change.PreviewEnv[name]; !variable {
			change.PreviewEnv[name] = nil
		}
	}
	e.k.Notef("%d secrets of previews are sealed: svcctl secret list; restarted: %s", len(secrets), orNone(done.Restarted))
	return nil
}

// change reads the command line. secrets are those of --preview-secrets-file.
func (o projectSettings) change(k *kit.Kit) (change api.ChangeProject, secrets map[string]*string, err error) {
	change, secrets = api.ChangeProject{PreviewEnv: map[string]*string{}}, map[string]*string{}
	for _, name := range o.removed {
		change.PreviewEnv[name] = nil
	}
	for _, file := range o.secrets {
		text, err := k.ReadFile(file)
		if err != nil {
			return api.ChangeProject{}, nil, kit.Usagef("--preview-secrets-file: %v", err)
		}
		values, err := dotenv.ParseAny(text)
		if err != nil {
			return api.ChangeProject{}, nil, kit.Usagef("--preview-secrets-file %s: %v", file, err)
		}
		for name, value := range values {
			secrets[name] = &value
		}
	}
	for _, pair := range o.vars {
		name, value, ok := variable(pair)
		if !ok {
			return api.ChangeProject{}, nil, kit.Usagef("--preview-var must be NAME=VALUE") // the value may be a secret: it is not repeated
		}
		change.PreviewEnv[name] = &value
	}
	o.changeModes(&change)
	if change.PreviewParent == nil && change.Guard == nil && change.ReadOnly == nil && len(change.PreviewEnv)+len(secrets) == 0 {
		return api.ChangeProject{}, nil, kit.Usagef("nothing to set: see svcctl projects set --help")
	}
	return change, secrets, nil
}

// changeModes sets the fields whose flags are given, also to their zero values.
func (o projectSettings) changeModes(change *api.ChangeProject) {
	if o.given("preview-parent") {
		change.PreviewParent = &o.parent
	}
	if o.given("guard") {
		change.Guard = &o.guard
	}
	if o.given("read-only") {
		change.ReadOnly = &o.readOnly
	}
}
