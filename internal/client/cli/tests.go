package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/client/dev"
	"github.com/svcctl/svcctl/internal/config"
)

type testOptions struct {
	build   buildOptions
	configs []string
	vars    varOptions
	seed    string
	timeout time.Duration
}

// testParent is the version that the branches of tests begin with.
const testParent = "seed"

func newTest(k *kit.Kit, own WatchServer) *cobra.Command {
	var o testOptions
	cmd := &cobra.Command{
		Use: "test -- COMMAND [ARG]...", Short: "Run tests against a worker, each with a branch of the data of its own",
		Long: "Starts a server for the tests alone, deploys the worker as the version " + testParent + ", with the data of seed/ and its migrations, and runs the command. The package\n" +
			"@svcctl/test gives each test a version whose data begin as those of " + testParent + ": fixtures for vitest, node:test and Playwright. --seed runs a command before the\n" +
			"tests that may fill " + testParent + ". The log and the data of a test that failed are kept in .svcctl/test of the worker directory; everything else is gone at the end. The exit code\n" +
			"is that of the command, which has SVCCTL_SERVER, SVCCTL_DEPLOY_TOKEN, SVCCTL_ADMIN_TOKEN, SVCCTL_TEST_PROJECT, SVCCTL_TEST_PARENT and SVCCTL_TEST_KEEP.",
		Example: "  svcctl test -- vitest run\n  svcctl test -- node --test\n  svcctl test --seed 'node seed.js' --var TOKEN=t -- playwright test",
		Args: func(cmd *cobra.Command, args []string) error {
			if cmd.ArgsLenAtDash() != 0 || len(args) == 0 {
				return kit.Usagef("the command of the tests comes after --, as in svcctl test -- vitest run")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return runTests(cmd.Context(), k, o, own, args) },
	}
	o.build.flagsWithoutConfig(cmd)
	o.vars.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.build.project, "name", "", "same as --project")
	f.StringArrayVarP(&o.configs, "config", "c", nil, "wrangler config file (default: the nearest one); may be repeated, the tests get branches of the first")
	f.StringVar(&o.seed, "seed", "", "command for the shell that fills the version "+testParent+" before the tests")
	f.DurationVar(&o.timeout, "timeout", 5*time.Minute, "time limit for the deploy of the version "+testParent)
	return cmd
}

// runTests runs a command with a server of its own.
func runTests(ctx context.Context, k *kit.Kit, o testOptions, own WatchServer, command []string) (err error) {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "svctest-")
	if err != nil {
		return fmt.Errorf("making a directory for the tests: %w", err)
	}
	defer os.RemoveAll(dir)
	server, err := own(ctx, forTests(k), self, false, dev.Place{Dir: dir})
	if err != nil {
		return err
	}
	defer func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), testStopLimit)
		defer cancel()
		if stop := server.Stop(ending); err == nil {
			err = stop
		}
	}()
	note, err := config.ReadNote(filepath.Join(dir, "data"))
	if err != nil {
		return fmt.Errorf("reading the tokens of the server: %w", err)
	}
	t := tests{k: k, o: o, place: k.Path("")}
	t.kit = t.inside(server.Client.Server(), note)
	if err := t.deploy(ctx); err != nil {
		return err
	}
	if o.seed != "" {
		if err := t.run(ctx, []string{"sh", "-c", o.seed}); err != nil {
			return errors.Join(fmt.Errorf("the command of --seed failed"), err)
		}
	}
	return t.run(ctx, command)
}

// testStopLimit is how long the end of the server may take.
const testStopLimit = 45 * time.Second

// forTests is a Kit whose server has some processes ready for the next version.
func forTests(k *kit.Kit) *kit.Kit {
	own := *k
	if environment(k, "SVC_SPARE_HOSTS") == "" {
		own.Environ = append(slices.Clone(k.Environ), "SVC_SPARE_HOSTS=2")
	}
	return &own
}

// inside is a Kit for the server of the tests: no setting of another one holds.
func (t *tests) inside(server string, note config.Note) *kit.Kit {
	own := *t.k
	own.Server, own.Context, own.CAFile, own.Output = server, "", "", ""
	own.Environ = slices.DeleteFunc(slices.Clone(t.k.Environ), func(entry string) bool { return strings.HasPrefix(entry, "SVCCTL_") })
	own.Environ = append(own.Environ, "SVCCTL_SERVER="+server, "SVCCTL_DEPLOY_TOKEN="+note.DeployToken, "SVCCTL_ADMIN_TOKEN="+note.AdminToken)
	return &own
}
