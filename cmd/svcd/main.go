// Command svcd is the server of svcctl by itself.
package main

import (
	"context"
	"os"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/program/serve"
)

func main() { os.Exit(serve.Main(context.Background(), os.Args[1:], kit.System())) }
