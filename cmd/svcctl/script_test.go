package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/svcctl/svcctl/internal/client/cli/clitest"
)

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"svcctl": main}) }

// TestScripts runs testdata/script: what every command prints, and where, and
// its exit codes.
func TestScripts(t *testing.T) { clitest.Run(t) }
