// Command svcctl deploys versions of Workers and runs the server that serves
// them.
package main

import (
	"context"
	"os"

	"github.com/svcctl/svcctl/internal/client/cli"
	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/lib/noquery"
	"github.com/svcctl/svcctl/internal/program"
)

func main() {
	noquery.Restore()
	os.Exit(cli.Main(context.Background(), os.Args[1:], kit.System(), program.Full()))
}
