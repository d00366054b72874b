package main

import (
	"flag"
	"testing"

	"github.com/svcctl/svcctl/internal/client/cli/clitest"
)

var all = flag.Bool("scripts.all", false, "run all scripts of cmd/svcctl, which takes minutes")

func TestMain(m *testing.M) { clitest.Client(m) }

// TestScripts: what the client hands over to the whole program, and what it says without one.
func TestScripts(t *testing.T) { clitest.Run(t) }

// TestScriptsOfTheWhole: the scripts of the whole program pass with the client, too. Servers are the
// whole program, installed beside it.
func TestScriptsOfTheWhole(t *testing.T) {
	const dir = "../svcctl/testdata/script"
	if *all {
		clitest.RunOf(t, dir)
		return
	}
	clitest.RunOf(t, dir, "completion", "deploy", "help", "refused", "runtime", "settings", "usage", "version")
}
