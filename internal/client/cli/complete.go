package cli

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// completeWithin is how long a shell waits for the server when it completes a word.
const completeWithin = 300 * time.Millisecond

// complete gives every command of the tree its completions: versions where the first
// argument is one, and the values of flags. What the server does not say in time is not
// completed.
func complete(k *kit.Kit, cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		complete(k, sub)
	}
	switch {
	case cmd.ValidArgsFunction != nil:
	case strings.Contains(cmd.Use, "VERSION KEY"):
		cmd.ValidArgsFunction = arguments(versionNames(k), keyNames(k))
	case strings.Contains(cmd.Use, "VERSION"):
		cmd.ValidArgsFunction = arguments(versionNames(k))
	}
	if strings.HasSuffix(cmd.Use, " PROJECT") && cmd.Name() == "get" {
		cmd.ValidArgsFunction = arguments(projectNames(k))
	}
	for name, values := range map[string]cobra.CompletionFunc{
		"project": projectNames(k), "name": projectNames(k), "parent": versionNames(k), "against": versionNames(k), "status": statusNames, "binding": bindingNames(k),
		"env": environmentNames(k),
	} {
		if cmd.Flags().Lookup(name) != nil && cmd.Name() != "login" {
			_ = cmd.RegisterFlagCompletionFunc(name, values) // it exists
		}
	}
}

// arguments completes the first arguments, one by one.
func arguments(values ...cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) >= len(values) {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return values[len(args)](cmd, args, typed)
	}
}

// versionNames completes "version" and "project/version", with status and age.
func versionNames(k *kit.Kit) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), completeWithin)
		defer cancel()
		return versionsLike(ctx, k, flagOf(cmd, "project"), typed), cobra.ShellCompDirectiveNoFileComp
	}
}

// flagOf is the value of a flag; "" if the command does not have it.
func flagOf(cmd *cobra.Command, name string) string {
	if f := cmd.Flags().Lookup(name); f != nil {
		return f.Value.String()
	}
	return ""
}

func versionsLike(ctx context.Context, k *kit.Kit, project, typed string) []string {
	prefix := ""
	if p, _, ok := strings.Cut(typed, "/"); ok {
		project, prefix = p, p+"/"
	}
	c, project, err := projectAt(k, project)
	if err != nil {
		return nil
	}
	page, err := c.Versions(ctx, project, "", client.Page{})
	if err != nil {
		return nil
	}
	var found []string
	for _, v := range page.Items {
		if name := prefix + v.ID; strings.HasPrefix(name, typed) {
			found = append(found, cobra.CompletionWithDesc(name, string(v.Status)+", "+kit.Age(v.CreatedAt.Time)))
		}
	}
	return found
}

func projectNames(k *kit.Kit) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), completeWithin)
		defer cancel()
		return projectsLike(ctx, k, typed), cobra.ShellCompDirectiveNoFileComp
	}
}

func projectsLike(ctx context.Context, k *kit.Kit, typed string) []string {
	c, err := k.Client()
	if err != nil {
		return nil
	}
	page, err := c.Projects(ctx, client.Page{})
	if err != nil {
		return nil
	}
	var found []string
	for _, p := range page.Items {
		if strings.HasPrefix(p.ID, typed) {
			found = append(found, cobra.CompletionWithDesc(p.ID, "production "+cmp.Or(p.ProdVersionID, "none")))
		}
	}
	return found
}

func statusNames(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	names := []string{}
	for _, s := range []api.VersionStatus{api.VersionStatusReady, api.VersionStatusFailed, api.VersionStatusArchived, api.VersionStatusPending, api.VersionStatusDestroyed} {
		names = append(names, string(s))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func contextNames(k *kit.Kit) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		all, err := config.ReadContexts(k.Environ)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return slices.Sorted(maps.Keys(all.Contexts)), cobra.ShellCompDirectiveNoFileComp
	}
}
