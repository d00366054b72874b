package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/pkg/client"
)

// bindingFlags say which binding of a version a command is about.
type bindingFlags struct{ project, binding string }

// addAs adds the flags. noun names the data behind the binding.
func (f *bindingFlags) addAs(cmd *cobra.Command, noun string) {
	projectFlag(cmd, &f.project)
	cmd.Flags().StringVar(&f.binding, "binding", "", "binding of the "+noun+" (default: the only one)")
}

// bindingOf names a binding of a version. It converts to client.KV and client.R2.
type bindingOf struct {
	Project, Version string
	Binding          string
}

// named is the binding of --binding, "" without it, of the version that arg names.
func (f bindingFlags) named(k *kit.Kit, arg string) (*client.Client, bindingOf, error) {
	c, project, id, err := versionAt(k, arg, f.project)
	return c, bindingOf{project, id, f.binding}, err
}

// only is the binding of the only item.
func only[T any](version, nouns string, all []T, binding func(T) string) (string, error) {
	if len(all) == 1 {
		return binding(all[0]), nil
	}
	if len(all) == 0 {
		return "", kit.Usagef("version %s has no %s: its wrangler config binds none", version, nouns)
	}
	names := make([]string, len(all))
	for i, one := range all {
		names[i] = binding(one)
	}
	return "", kit.Usagef("version %s has %d %s (%s): name one with --binding", version, len(all), nouns, strings.Join(names, ", "))
}

// addForce adds the flag --force to a group of commands that change data.
func addForce(k *kit.Kit, cmd *cobra.Command) {
	cmd.PersistentFlags().BoolVar(&k.Force, "force", false, "change the data although the project is read-only")
}
