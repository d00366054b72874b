package clitest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// Main runs tests whose scripts execute the command of the package in the current directory, known
// as name. It is built without the race detector, which would make each of some hundred starts ten
// times as slow. SVC_SCRIPTS_RACE=1 runs the test binary with main in its place.
func Main(m *testing.M, name string, main func()) {
	if os.Getenv("SVC_SCRIPTS_RACE") != "" { //nolint:forbidigo // as a TestMain
		testscript.Main(m, map[string]func(){name: main})
	}
	os.Exit(withProgram(m, name)) //nolint:forbidigo // as a TestMain
}

// withProgram builds the command and runs the tests with it in PATH.
func withProgram(m *testing.M, name string) int {
	dir, err := os.MkdirTemp("", "scripts-")
	if err == nil {
		defer os.RemoveAll(dir)
		err = build(filepath.Join(dir, name), ".")
	}
	if err == nil {
		err = os.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH")) //nolint:forbidigo // as a TestMain
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "building %s: %v\n", name, err)
		return 1
	}
	return m.Run()
}

func build(to, pkg string) error {
	cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", to, pkg) //nolint:noctx // before the tests: no context is there
	cmd.Stderr = os.Stderr
	return cmd.Run()
}

// Client runs the tests of the light program, which is bin/svcctl, with the whole one where an installation
// has it: lib/svcctl/svcctl, $WHOLE for scripts.
func Client(m *testing.M) {
	os.Exit(withClient(m)) //nolint:forbidigo // as a TestMain
}

func withClient(m *testing.M) int {
	dir, err := os.MkdirTemp("", "scripts-")
	if err == nil {
		defer os.RemoveAll(dir)
		err = errors.Join(build(filepath.Join(dir, "bin", "svcctl"), "."), build(filepath.Join(dir, "lib", "svcctl", "svcctl"), "../svcctl"))
	}
	if err == nil {
		err = os.Setenv("PATH", filepath.Join(dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH")) //nolint:forbidigo // as a TestMain
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "building the client: %v\n", err)
		return 1
	}
	return m.Run()
}
