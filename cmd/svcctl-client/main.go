// Command svcctl-client is svcctl without the server: all commands that speak to one. What needs the server's
// code (serve, host, gateway, runtime, dev without --server, admin backup and the like) it leaves to the whole
// program, if that is installed.
package main

import (
	"context"
	"os"

	"github.com/svcctl/svcctl/internal/client/cli"
	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/lib/noquery"
	"github.com/svcctl/svcctl/internal/program/elsewhere"
)

func main() {
	noquery.Restore()
	os.Exit(cli.Main(context.Background(), os.Args[1:], kit.System(), elsewhere.Parts()))
}
