package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/client/cli/tree"
	"github.com/svcctl/svcctl/internal/client/cli/whole"
	"github.com/svcctl/svcctl/internal/client/dev"
)

// Parts are what the commands have from the program that they are in.
type Parts struct {
	Runs   whole.Runs
	Hidden []*cobra.Command // that processes of the program itself run as
	Watch  WatchServer

	// Engine returns the path of workerd, and installs it if it is missing.
	Engine func(context.Context, *kit.Kit) (string, error)
}

// WatchServer starts the server of watch mode. self is the path of the program; inspect says that
// debuggers may attach.
type WatchServer func(ctx context.Context, k *kit.Kit, self string, inspect bool, p dev.Place) (*dev.Server, error)

// Main runs one command line and returns the exit code.
func Main(ctx context.Context, args []string, k *kit.Kit, p Parts) int {
	return tree.Execute(ctx, func() *cobra.Command { return New(k, p) }, args, k, func(f tree.Failed) ([]string, error) { return answerForeign(k, f) })
}

// New makes the whole tree.
func New(k *kit.Kit, p Parts) *cobra.Command {
	if p.Engine != nil {
		k.Engine = func(ctx context.Context) (string, error) { return p.Engine(ctx, k) }
	}
	root := tree.NewRoot(k, "svcctl", "Deploy versions of Workers: each with its own process, host name and data")
	root.AddGroup(
		&cobra.Group{ID: "deploy", Title: "Deploying:"},
		&cobra.Group{ID: "inspect", Title: "Inspect:"},
		&cobra.Group{ID: "data", Title: "Data:"},
		&cobra.Group{ID: "run", Title: "Running a server:"},
		&cobra.Group{ID: "account", Title: "Choosing a server:"},
	)
	flags := root.PersistentFlags()
	flags.StringVar(&k.Server, "server", "", "URL of the API (default: SVCCTL_SERVER, else the current context's, else a daemon on this machine)")
	flags.StringVarP(&k.Context, "context", "C", "", "context of svcctl login (default: SVCCTL_CONTEXT, else the current one)")
	flags.StringVarP(&k.Output, "output", "o", "", "output format: table, wide, json, yaml or name (default: SVCCTL_OUTPUT, else table)")
	flags.StringVar(&k.CAFile, "ca-file", "", "file of certificates to trust for an https server, beside the system's")
	flags.StringVar(&k.CWD, "cwd", "", "run as if started in this directory")
	add(root, "deploy", p.Runs.Tour(k), newInit(k), newDev(k, p.Watch), newTest(k, p.Watch), newTypes(k), newDeploy(k), newPreview(k), newComment(k), newRelease(k), newPromote(k), newRollback(k), newTrigger(k), newBundle(k), newCheck(k))
	add(root, "inspect", newUI(k), newDashboard(k), newCron(k), newLogs(k), newVersions(k), newProjects(k), newDomains(k), newOpen(k), newCurl(k), newProxy(k), newAudit(k), newWebhooks(k), newPromotions(k))
	add(root, "data", newAnalytics(k), newData(k), newEmail(k), newEnv(k), newD1(k), newKV(k), newQueues(k), newR2(k), newSecret(k), newWorkflows(k))
	add(root, "run", append(p.Runs.Commands(k), newService(k), newNodes(k), newGateways(k), newDoctor(k), newTLS(k), newAdmin(k, p.Runs))...)
	add(root, "account", newLogin(k), newContext(k), newWhoami(k), newConfig(k))
	root.AddCommand(tree.NewVersion(k))
	root.AddCommand(topics()...)
	root.AddCommand(p.Hidden...)
	complete(k, root)
	choosing(k, root)
	_ = root.RegisterFlagCompletionFunc("context", contextNames(k)) // it exists
	_ = root.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"table", "wide", "json", "yaml", "name"}, cobra.ShellCompDirectiveNoFileComp))
	return root
}

func add(root *cobra.Command, group string, commands ...*cobra.Command) {
	for _, c := range commands {
		c.GroupID = group
		root.AddCommand(c)
	}
}

// splitRef reads "version" or "project/version".
func splitRef(arg, project string) (string, string, error) {
	if p, v, ok := strings.Cut(arg, "/"); ok {
		if p == "" || v == "" || strings.Contains(v, "/") {
			return "", "", kit.Usagef("%q is not a version: use VERSION or PROJECT/VERSION", arg)
		}
		if project != "" && project != p {
			return "", "", kit.Usagef("%s names project %s, --project names %s", arg, p, project)
		}
		return p, v, nil
	}
	return project, arg, nil
}

// errNoProject is what a command says that found no project anywhere.
var errNoProject = errors.New("missing project: use --project, or run the command in a worker directory")
