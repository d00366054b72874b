package cli

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/client/project"
	"github.com/svcctl/svcctl/pkg/client"
)

// completedKeys is the maximum number of keys that are completed.
const completedKeys = 100

// nounOf is the noun of a command: "kv" of "svcctl kv key get".
func nounOf(cmd *cobra.Command) string {
	words := strings.Fields(cmd.CommandPath())
	return words[min(1, len(words)-1)]
}

// bindingNames completes the bindings of the version that is the first argument.
func bindingNames(k *kit.Kit) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completeWithin)
		defer cancel()
		return bindingsLike(ctx, k, versionArgument{args[0], flagOf(cmd, "project")}, nounOf(cmd), typed), cobra.ShellCompDirectiveNoFileComp
	}
}

// environmentNames completes the environments of the project file that the command line names or
// that the directory has.
func environmentNames(k *kit.Kit) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		dir, config := "", flagOf(cmd, "config")
		if several, err := cmd.Flags().GetStringArray("config"); err == nil { // svcctl dev takes several
			config = strings.Join(several[:min(1, len(several))], "")
		}
		if len(args) > 0 {
			if info, err := os.Stat(k.Path(args[0])); err == nil && info.IsDir() {
				dir = args[0]
			}
		}
		if config != "" {
			config = k.Path(config)
		}
		names, _ := project.Environments(k.Path(dir), config) // without a project file there are no names
		return slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, typed) }), cobra.ShellCompDirectiveNoFileComp
	}
}

// versionArgument is "[PROJECT/]VERSION" and the flag --project.
type versionArgument struct{ version, project string }

func bindingsLike(ctx context.Context, k *kit.Kit, at versionArgument, noun, typed string) (found []string) {
	c, owner, id, err := versionAt(k, at.version, at.project)
	if err != nil {
		return nil
	}
	for _, name := range bindingsOf(ctx, c, noun, owner, id) {
		if strings.HasPrefix(name, typed) {
			found = append(found, name)
		}
	}
	return found
}

// databaseNames completes the D1 databases of the version that is the first argument.
func databaseNames(k *kit.Kit) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completeWithin)
		defer cancel()
		return databasesLike(ctx, k, versionArgument{args[0], flagOf(cmd, "project")}, typed), cobra.ShellCompDirectiveNoFileComp
	}
}

func databasesLike(ctx context.Context, k *kit.Kit, at versionArgument, typed string) (found []string) {
	c, owner, id, err := versionAt(k, at.version, at.project)
	if err != nil {
		return nil
	}
	all, _ := c.Databases(ctx, owner, id) // none when the server does not answer
	for _, d := range all {
		if strings.HasPrefix(d.Name, typed) {
			found = append(found, d.Name)
		}
	}
	return found
}

// bindingsOf are the bindings that the commands of a noun are about; none when the server does
// not answer.
func bindingsOf(ctx context.Context, c *client.Client, noun, owner, id string) (names []string) {
	switch noun {
	case "kv":
		all, _ := c.Namespaces(ctx, owner, id)
		for _, n := range all {
			names = append(names, n.Binding)
		}
	case "d1":
		all, _ := c.Databases(ctx, owner, id)
		for _, d := range all {
			names = append(names, d.Binding)
		}
	case "r2":
		all, _ := c.Buckets(ctx, owner, id)
		for _, b := range all {
			names = append(names, b.Binding)
		}
	}
	return names
}

// keyNames completes the keys of a namespace or a bucket.
func keyNames(k *kit.Kit) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), completeWithin)
		defer cancel()
		flags := bindingFlags{flagOf(cmd, "project"), flagOf(cmd, "binding")}
		if nounOf(cmd) == "r2" {
			return objectsLike(ctx, k, r2Flags{flags}, args[0], typed), cobra.ShellCompDirectiveNoFileComp
		}
		return keysLike(ctx, k, kvFlags{flags}, args[0], typed), cobra.ShellCompDirectiveNoFileComp
	}
}

func keysLike(ctx context.Context, k *kit.Kit, f kvFlags, version, typed string) (found []string) {
	c, kv, err := f.open(ctx, k, version)
	if err != nil {
		return nil
	}
	page, err := c.Keys(ctx, kv, typed, client.Page{Limit: completedKeys})
	if err != nil {
		return nil
	}
	for _, key := range page.Items {
		found = append(found, key.Name)
	}
	return found
}

func objectsLike(ctx context.Context, k *kit.Kit, f r2Flags, version, typed string) (found []string) {
	c, bucket, err := f.open(ctx, k, version)
	if err != nil {
		return nil
	}
	page, err := c.Objects(ctx, bucket, typed, "", client.Page{Limit: completedKeys})
	if err != nil {
		return nil
	}
	for _, object := range page.Items {
		found = append(found, object.Key)
	}
	return found
}
