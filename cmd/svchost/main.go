// Command svchost is the worker host by itself. The server runs it in place of its own
// binary if it is beside that binary and of the same build.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/svcctl/svcctl/internal/host/hostmain"
)

func main() {
	if err := hostmain.Run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
