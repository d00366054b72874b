package serve

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/data/s3server"
	"github.com/svcctl/svcctl/internal/host/hostmain"
	"github.com/svcctl/svcctl/internal/lib/suggest"
	"github.com/svcctl/svcctl/internal/server/daemon"
	"github.com/svcctl/svcctl/internal/server/obs"
)

// NewRoot makes a root command with the manners of every command of ours:
// errors are printed once, by kit, and a wrong command line is a usage error.
func NewRoot(k *kit.Kit, name, short string) *cobra.Command {
	root := &cobra.Command{
		Use: name, Short: short, Version: obs.BuildInfo().Version, SilenceErrors: true, SilenceUsage: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return k.CheckOutput(strings.Fields(cmd.Annotations[kit.OutputFormats])...)
		},
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return kit.Usagef("%v%s\nsee: %s --help", err, meant(cmd, err), cmd.CommandPath())
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
	if name := suggest.Nearest(unknown.GetSpecifiedName(), slices.Values(names)); name != "" {
		return "; did you mean --" + name + "?"
	}
	return ""
}

// Main is svcd.
func Main(ctx context.Context, args []string, k *kit.Kit) int {
	return Execute(ctx, NewDaemon(k), args, k)
}

// Execute runs one command line of a tree and gives the exit code.
func Execute(ctx context.Context, root *cobra.Command, args []string, k *kit.Kit) int {
	if os.Getpid() == 1 {
		return asFirst(k)
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	root.SetArgs(args)
	root.SetIn(k.In)
	root.SetOut(k.Out)
	root.SetErr(k.Err)
	ran := false
	before := root.PersistentPreRunE
	root.PersistentPreRunE = func(cmd *cobra.Command, args []string) error { ran = true; return before(cmd, args) }
	root.InitDefaultCompletionCmd(args...)
	guardNouns(root)
	cmd, err := root.ExecuteContextC(ctx)
	if _, said := errors.AsType[*kit.UsageError](err); err != nil && !ran && !said { // cobra refused the command line
		err = Refused(cmd, err)
	}
	if err != nil {
		return k.Fail(err)
	}
	return kit.ExitOK
}

// Refused is the error of a command line that cobra refused.
func Refused(cmd *cobra.Command, err error) error {
	return kit.Usagef("%s\nsee: %s --help", refusal(cmd, err), cmd.CommandPath())
}

// counts is in cobra's refusals of a number of arguments: "accepts 1 arg(s), received 2".
var counts = regexp.MustCompile(`(\d+) arg\(s\), (?:only )?received (\d+)`)

// refusal is cobra's refusal of a command line, with the form of the command in place of numbers
// of arguments.
func refusal(cmd *cobra.Command, err error) string {
	text := strings.TrimSpace(err.Error())
	if arg, ok := unexpected(cmd, text); ok {
		return arg
	}
	m := counts.FindStringSubmatch(text)
	if m == nil {
		return text
	}
	what := "too many arguments"
	wanted, _ := strconv.Atoi(m[1]) // the pattern has digits only
	if received, _ := strconv.Atoi(m[2]); received < wanted || strings.HasPrefix(text, "requires") {
		what = "missing argument"
	}
	return what + ": " + strings.TrimSuffix(cmd.UseLine(), " [flags]")
}

// noArgs is cobra's refusal of an argument by a command that takes none.
var noArgs = regexp.MustCompile(`^unknown command ("[^"]*") for `)

// unexpected is the refusal of an argument by a command that takes none and has no verbs,
// which cobra calls an unknown command.
func unexpected(cmd *cobra.Command, text string) (refusal string, ok bool) {
	m := noArgs.FindStringSubmatch(text)
	if m == nil || cmd.HasSubCommands() {
		return "", false
	}
	refusal = fmt.Sprintf("unexpected argument %s: %s takes none", m[1], cmd.CommandPath())
	if cmd.Flags().Lookup("project") != nil {
		refusal += "; name a project with --project"
	}
	return refusal, true
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
	text := fmt.Sprintf("unknown command %q for %q", args[0], cmd.CommandPath())
	cmd.SuggestionsMinimumDistance = 2 // cobra's own for the root
	if meant := cmd.SuggestionsFor(args[0]); len(meant) > 0 {
		text += "\n\nDid you mean this?\n\t" + strings.Join(meant, "\n\t")
	}
	return errors.New(text)
}

// NewDaemon is the whole tree of svcd.
func NewDaemon(k *kit.Kit) *cobra.Command {
	root := NewRoot(k, "svcd", "The control plane of svcctl: API, gateway and the processes of versions")
	root.PersistentFlags().StringVarP(&k.Output, "output", "o", "", "output format: table or json")
	root.AddCommand(NewServe(k), NewHost(k), NewGateway(k), NewHealth(k), NewRuntime(k), NewVersion(k), newTrialStore(k))
	root.AddCommand(Hidden()...)
	return root
}

// NewVersion prints which build this is.
func NewVersion(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version of this program", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			b := obs.BuildInfo()
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

// Hidden are the commands that our own processes run as: the host of one
// version, and the embedded object store. They are spoken to over pipes.
func Hidden() []*cobra.Command {
	return []*cobra.Command{
		{
			Use: daemon.HostCommand, Hidden: true, Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return hostmain.Run(cmd.Context()) },
		},
		{
			Use: daemon.ObjectStoreCommand, Hidden: true, Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				// A Ctrl-C in the terminal reaches the whole group; the daemon decides when its store ends.
				ctx, stop := signal.NotifyContext(context.WithoutCancel(cmd.Context()), syscall.SIGTERM)
				defer stop()
				return s3server.Run(ctx, os.Stdin)
			},
		},
	}
}
