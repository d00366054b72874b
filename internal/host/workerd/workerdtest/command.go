package workerdtest

import (
	"os/exec"
	"testing"
)

// Command is the command line of workerd with these arguments. On Linux the process ends with the
// process of the test, also when that is killed by its time limit and runs no cleanup.
func Command(tb testing.TB, args ...string) *exec.Cmd {
	tb.Helper()
	return command(Binary(tb), args...)
}

func command(binary string, args ...string) *exec.Cmd {
	cmd := exec.Command(binary, args...) //nolint:noctx // ends with the test
	cmd.SysProcAttr = sysProcAttr()
	return cmd
}
