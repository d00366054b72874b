package clitest

import (
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
		cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", filepath.Join(dir, name), ".") //nolint:noctx // before the tests: no context is there
		cmd.Stderr = os.Stderr
		err = cmd.Run()
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
