//go:build failpoint

package failpoint

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
)

// Enabled reports whether this build has failpoints.
const Enabled = true

// armed reads the variable once. Only this build, which is never shipped,
// reads the environment outside internal/config.
//
//nolint:gochecknoglobals // one switch per process
var armed = sync.OnceValues(func() (name string, left *atomic.Int64) {
	return parse(os.Getenv("SVC_FAILPOINT")) //nolint:forbidigo // see above
})

// Hit kills the process when SVC_FAILPOINT names this place and its count is
// reached. It then does not return.
func Hit(name string) {
	want, left := armed()
	if name != want || left.Add(-1) != 0 {
		return
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
		panic("failpoint " + name + ": " + err.Error())
	}
	select {} // until the signal arrives
}

// parse reads "name" or "name:n". A malformed n arms nothing: the process
// survives, and the test that set the variable fails.
func parse(s string) (name string, left *atomic.Int64) {
	left = new(atomic.Int64)
	name, count, counted := strings.Cut(s, ":")
	if !counted {
		count = "1"
	}
	if n, err := strconv.Atoi(count); err == nil {
		left.Store(int64(n))
	}
	return name, left
}
