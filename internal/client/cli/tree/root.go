package tree

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/lib/buildinfo"
	"github.com/svcctl/svcctl/internal/lib/text"
)

// NewRoot makes a root command with the manners of every command of ours:
// errors are printed once, by kit, and a wrong command line is a usage error.
func NewRoot(k *kit.Kit, name, short string) *cobra.Command {
	root := &cobra.Command{
		Use: name, Short: short, Version: buildinfo.Read().Version, SilenceErrors: true, SilenceUsage: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return k.CheckOutput(strings.Fields(cmd.Annotations[kit.OutputFormats])...)
		},
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return kit.UsageOf(err, fmt.Sprintf("%v%s\nsee: %s --help", err, meant(cmd, err), cmd.CommandPath()))
	})
	root.CompletionOptions.HiddenDefaultCmd = false
	wrapHelp(k, root)
	return root
}

// meant names the flag that was probably meant in place of an unknown one; "" for none.
func meant(cmd *cobra.Command, err error) string {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return ""
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	if name := text.Nearest(unknown.GetSpecifiedName(), slices.Values(names)); name != "" {
		return "; did you mean --" + name + "?"
	}
	return ""
}

// guardNouns lets commands that have verbs show their help when they stand
// alone, and refuse a verb that they do not have.
func guardNouns(parent *cobra.Command) {
	for _, cmd := range parent.Commands() {
		if !cmd.HasSubCommands() {
			continue
		}
		guardNouns(cmd)
		if cmd.Args == nil { // else the command itself takes arguments
			cmd.Args = knownVerb
		}
		if !cmd.Runnable() {
			cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
	}
}

func knownVerb(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	message := fmt.Sprintf("unknown command %q for %q", args[0], cmd.CommandPath())
	cmd.SuggestionsMinimumDistance = 2 // cobra's own for the root
	if meant := cmd.SuggestionsFor(args[0]); len(meant) > 0 {
		message += "\n\nDid you mean this?\n\t" + strings.Join(meant, "\n\t")
	}
	return errors.New(message)
}

// NewVersion prints which build this is.
func NewVersion(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version of this program", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			b := buildinfo.Read()
			return k.Print(b, func() {
				details := []string{runtime.GOOS + "/" + runtime.GOARCH}
				if b.Commit != "" {
					details = append(details, "commit "+b.Commit)
				}
				if b.Date != "" {
					details = append(details, "built "+b.Date)
				}
				k.Printf("%s %s (%s)", cmd.Root().Name(), b.Version, strings.Join(details, ", "))
			})
		},
	}
}
