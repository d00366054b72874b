package program

import (
	"context"
	"os"

	"github.com/svcctl/svcctl/internal/client/cli"
	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/client/dev"
	"github.com/svcctl/svcctl/internal/program/demo"
	"github.com/svcctl/svcctl/internal/program/local"
	"github.com/svcctl/svcctl/internal/program/rescue"
	"github.com/svcctl/svcctl/internal/program/serve"
)

// Full are the parts of the whole program.
func Full() cli.Parts {
	runs := serve.Runs()
	rescue.Add(&runs)
	runs.Demo = tour
	return cli.Parts{Runs: runs, Hidden: serve.Hidden(), Watch: watch, Engine: serve.Workerd}
}

func tour(ctx context.Context, k *kit.Kit) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return demo.Run(ctx, k, self)
}

func watch(ctx context.Context, k *kit.Kit, self string, inspect bool, p dev.Place) (*dev.Server, error) {
	return local.Start(ctx, local.Config{
		Environ: k.Environ, Command: []string{self}, Inspect: inspect, Installing: func(stage string) { k.Notef("workerd: %s", stage) },
	}, p)
}
