package tree

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
)

// Failed is a command line that ended with an error.
type Failed struct {
	Root *cobra.Command
	Args []string
	Err  error
	Ran  bool // false if cobra refused the command line
}

// Flag is the name of the unknown flag that the command line was refused for; "" for none.
func (f Failed) Flag() string {
	if unknown, ok := errors.AsType[*pflag.NotExistError](f.Err); ok {
		return unknown.GetSpecifiedName()
	}
	return ""
}

// Answer improves the error of a command line. It returns the command line that was meant, which runs then, or an
// error; nil for the error as it stands.
type Answer func(Failed) (instead []string, better error)

// Execute runs one command line of a tree and gives the exit code. newRoot makes the tree. answer may be nil.
func Execute(ctx context.Context, newRoot func() *cobra.Command, args []string, k *kit.Kit, answer Answer) int {
	if os.Getpid() == 1 {
		return asFirst(k)
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	f := run(ctx, newRoot(), args, k)
	if f.Err != nil && answer != nil {
		instead, better := answer(f)
		if instead != nil {
			f = run(ctx, newRoot(), instead, k)
		}
		if better != nil {
			f.Err = better
		}
	}
	if f.Err != nil {
		return k.Fail(f.Err)
	}
	return kit.ExitOK
}

// run runs one command line.
func run(ctx context.Context, root *cobra.Command, args []string, k *kit.Kit) Failed {
	root.SetArgs(args)
	root.SetIn(k.In)
	root.SetOut(k.Out)
	root.SetErr(k.Err)
	f := Failed{Root: root, Args: args}
	before := root.PersistentPreRunE
	root.PersistentPreRunE = func(cmd *cobra.Command, args []string) error { f.Ran = true; return before(cmd, args) }
	root.InitDefaultCompletionCmd(args...)
	guardNouns(root)
	cmd, err := root.ExecuteContextC(ctx)
	if _, said := errors.AsType[*kit.UsageError](err); err != nil && !f.Ran && !said { // cobra refused the command line
		err = Refused(cmd, err)
	}
	f.Err = err
	return f
}
