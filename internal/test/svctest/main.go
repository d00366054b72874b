package svctest

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// Role is a program that a test binary can be: it runs in a child process with
// the arguments of [Start] or [Command]. The process exits with 1 if it returns
// an error, which is printed to stderr, and otherwise with 0.
type Role func(ctx context.Context, args []string) error

// Race is the GORACE of child processes: a program with the race detector otherwise sleeps one
// second before it exits.
const Race = "halt_on_error=1 atexit_sleep_ms=0"

// roleArg is the first argument of a test binary that is to run a role.
const roleArg = "-svctest.role"

// Main is a TestMain. In a child process it runs its role. Else it runs the tests
// and fails if goroutines are left when they have ended, except for those that
// options leave out.
func Main(m *testing.M, roles map[string]Role, options ...goleak.Option) {
	Play(roles)
	_ = os.Setenv("GORACE", Race) // for child processes
	goleak.VerifyTestMain(closing{m}, options...)
}

// closing are tests that close the idle connections of the standard client when they have ended.
// Each such connection has two goroutines until its server closes it, and a server that was killed
// with its network, as a pod is, never does.
type closing struct{ tests goleak.TestingM }

// Run implements goleak.TestingM.
func (c closing) Run() int {
	defer http.DefaultClient.CloseIdleConnections() //nolint:forbidigo // nothing is sent
	return c.tests.Run()
}

// Play is for a TestMain that does not call Main. In a child process it runs the role and does
// not return.
func Play(roles map[string]Role) {
	if len(os.Args) > 2 && os.Args[1] == roleArg {
		os.Exit(play(roles[os.Args[2]], os.Args[3:])) //nolint:forbidigo // this is main
	}
}

func play(role Role, args []string) int {
	if err := role(context.Background(), args); err != nil { //nolint:forbidigo // this is main
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// Command is the command line that starts a role of this test binary.
func Command(role string, args ...string) []string {
	self, err := os.Executable()
	if err != nil {
		panic(err) // the system cannot run tests
	}
	return append([]string{self, roleArg, role}, args...)
}
