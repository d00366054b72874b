package main

import (
	"testing"

	"github.com/svcctl/svcctl/internal/client/cli/clitest"
)

func TestMain(m *testing.M) { clitest.Main(m, "svcctl", main) }

// TestScripts runs testdata/script: what every command prints, and where, and
// its exit codes.
func TestScripts(t *testing.T) { clitest.Run(t) }
