package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/client/dotenv"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

func newEnv(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{
		Use: "env", Short: "List and change the variables of a version", RunE: serveHelp,
		Long: "Lists and changes the variables of one version. A variable comes from the bundle, from an override, or from the platform; " +
			"a later source wins. Only overrides can be changed. A change restarts a ready version; its requests wait meanwhile.",
	}
	set, unset, load := newEnvSet(k), newEnvUnset(k), newEnvImport(k)
	addYes(k, set, unset, load)
	cmd.AddCommand(newEnvList(k), set, unset, load, newEnvExport(k))
	return cmd
}

// envOptions are the flags of the verbs of env.
type envOptions struct {
	project string
	reveal  bool
	replace bool
}

// envVerb makes a command on the environment of the version of its first argument.
func envVerb(k *kit.Kit, cmd *cobra.Command, o *envOptions, run func(context.Context, envCall, []string) error) *cobra.Command {
	projectFlag(cmd, &o.project)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, project, id, err := versionAt(k, args[0], o.project)
		if err != nil {
			return err
		}
		return run(cmd.Context(), envCall{k: k, c: c, project: project, version: id}, args[1:])
	}
	return cmd
}

// envCall is one call of a verb of env.
type envCall struct {
	k                *kit.Kit
	c                *client.Client
	project, version string
}

func newEnvList(k *kit.Kit) *cobra.Command {
	var o envOptions
	cmd := &cobra.Command{
		Use: "list [PROJECT/]VERSION", Aliases: []string{"ls"}, Short: "List the variables of a version with their sources", Args: cobra.ExactArgs(1),
	}
	cmd.Flags().BoolVar(&o.reveal, "reveal", false, "show the values of the variables")
	return envVerb(k, cmd, &o, func(ctx context.Context, e envCall, _ []string) error {
		env, err := e.c.Env(ctx, e.project, e.version)
		if err != nil {
			return err
		}
		return e.print(env, o.reveal)
	})
}

func newEnvSet(k *kit.Kit) *cobra.Command {
	var o envOptions
	cmd := &cobra.Command{
		Use: "set [PROJECT/]VERSION NAME=VALUE...", Short: "Set overrides of a version", Args: cobra.MinimumNArgs(2),
		Long:    "Sets overrides and keeps the others. Other users of the machine can read a command line: use svcctl env import for secrets.",
		Example: "  svcctl env set v1 GREETING=hello LIMIT=10",
	}
	return envVerb(k, cmd, &o, func(ctx context.Context, e envCall, pairs []string) error {
		added := map[string]string{}
		for _, pair := range pairs {
			name, value, ok := variable(pair)
			if !ok {
				return kit.Usagef("want NAME=VALUE") // the argument may be a secret: it is not repeated
			}
			added[name] = value
		}
		return e.change(ctx, func(vars map[string]string) error { maps.Copy(vars, added); return nil })
	})
}

func newEnvUnset(k *kit.Kit) *cobra.Command {
	var o envOptions
	cmd := &cobra.Command{
		Use: "unset [PROJECT/]VERSION NAME...", Short: "Delete overrides of a version", Args: cobra.MinimumNArgs(2),
		Long: "Deletes overrides. A variable of the bundle that an override replaced has its value of the bundle again.",
	}
	return envVerb(k, cmd, &o, func(ctx context.Context, e envCall, names []string) error {
		return e.change(ctx, func(vars map[string]string) error {
			for _, name := range names {
				if _, ok := vars[name]; !ok {
					return fmt.Errorf("%s/%s has no override %q: see svcctl env list", e.project, e.version, name)
				}
				delete(vars, name)
			}
			return nil
		})
	})
}

func newEnvImport(k *kit.Kit) *cobra.Command {
	var o envOptions
	cmd := &cobra.Command{
		Use: "import [PROJECT/]VERSION FILE", Short: "Set overrides of a version from a file", Args: cobra.ExactArgs(2),
		Long: `Sets the variables of a file, as .env or a JSON object of strings, as overrides; "-" is standard input. Other overrides stay, unless --replace is set.`,
	}
	cmd.Flags().BoolVar(&o.replace, "replace", false, "delete the overrides that the file does not have")
	return envVerb(k, cmd, &o, func(ctx context.Context, e envCall, args []string) error {
		text, err := e.k.ReadFile(args[0])
		if err != nil {
			return err
		}
		added, err := dotenv.ParseAny(text)
		if err != nil {
			return kit.Usagef("%s: %v", args[0], err)
		}
		return e.change(ctx, func(vars map[string]string) error {
			if o.replace {
				clear(vars)
			}
			maps.Copy(vars, added)
			return nil
		})
	})
}

func newEnvExport(k *kit.Kit) *cobra.Command {
	var o envOptions
	cmd := &cobra.Command{
		Use: "export [PROJECT/]VERSION", Short: "Print the overrides of a version as a .env file, values included", Args: cobra.ExactArgs(1),
		Long: "Prints the overrides with their values in the form that svcctl env import reads: as .env, or with -o json as an object.",
	}
	return envVerb(k, cmd, &o, func(ctx context.Context, e envCall, _ []string) error {
		env, err := e.c.Env(ctx, e.project, e.version)
		if err != nil {
			return err
		}
		vars := env.Overrides()
		text, unwritable := dotenv.Format(vars)
		if len(unwritable) > 0 && !e.k.JSON() {
			return fmt.Errorf("a .env file cannot hold the value of %s: use -o json", strings.Join(unwritable, ", "))
		}
		return e.k.Print(vars, func() { fmt.Fprint(e.k.Out, text) })
	})
}

// change reads the overrides, changes them and stores them, unless they changed
// meanwhile.
func (e envCall) change(ctx context.Context, change func(vars map[string]string) error) error {
	env, err := e.c.Env(ctx, e.project, e.version)
	if err != nil {
		return err
	}
	vars := env.Overrides()
	if err := change(vars); err != nil {
		return err
	}
	if err := askProduction(ctx, e.k, e.c, bindingOf{Project: e.project, Version: e.version}, "changes its variables and restarts it"); err != nil {
		return err
	}
	progress := e.k.NewProgress()
	defer progress.Abort()
	progress.Stage("changing the variables of " + e.version)
	env, err = e.c.SetEnv(ctx, e.project, e.version, vars, env.ETag)
	if err != nil {
		return err
	}
	progress.Done("")
	return e.print(env, false)
}

// print shows variables; the values of the platform are no secrets.
func (e envCall) print(env client.Env, reveal bool) error {
	items := slices.Clone(env.Items)
	for i, v := range items {
		if !reveal && v.Source != api.EnvSourcePlatform {
			items[i].Value = fmt.Sprintf("(hidden, %d bytes)", len(v.Value))
		}
	}
	return e.k.Print(api.EnvList{Items: items}, func() {
		e.k.Table([]string{"KEY", "VALUE", "SOURCE", "SHADOWS"}, kit.Rows(items, func(v api.EnvEntry) []string {
			var shadowed []string
			for _, s := range v.Shadowed {
				shadowed = append(shadowed, string(s))
			}
			return []string{v.Key, v.Value, string(v.Source), strings.Join(shadowed, ", ")}
		}))
	})
}
