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
//nolint:gochecknoglobals // a crash switch of the process, not of a value
var armed = sync.OnceValues(func() (name string, left *atomic.Int64) {
	return parse(os.Getenv("SVC_FAILPOINT")) //nolint:forbidigo // see above
})

// Hit kills the process when SVC_FAILPOINT names this place and this is the
// hit that it counts to. It then does not return.
func Hit(name string) {
	want, left := armed()
	if name != want || left.Add(-1) != 0 {
		return
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
		panic("failpoint " + name + ": " + err.Error())
	}
	select {} // the signal is on its way
}

// parse reads "name" or "name:n". A malformed n arms nothing, which the test
// that set it notices because the process survives.
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
