//go:build simulate

package simulate

import (
	"encoding/hex"
	"os"
	"runtime"
	"testing"
	"testing/synctest"
)

// result is what one run of a seed gave.
type result struct {
	*world

	hash string // of the trace
}

// warmed says that a first seed has run: what a process does once is done, so that a seed does not
// depend on those before it.
//
//nolint:gochecknoglobals // of the process
var warmed bool

// runSeed runs the listed decisions of a seed.
func runSeed(t *testing.T, seed uint64, list []int, keepTrace bool) result {
	t.Helper()
	if !warmed {
		warmed = true
		runSeed(t, 0, allDecisions(300), false)
	}
	dir := memoryDir(t)
	defer os.RemoveAll(dir)
	runtime.GC() // twice: pools are empty then
	runtime.GC()
	var r result
	synctest.Test(t, func(*testing.T) {
		reseedSQLite(seed)
		reseedRuntime(seed, streamWorld)
		r.world = newWorld(seed, dir)
		r.trace.keep = keepTrace
		r.run(list)
		r.hash = hex.EncodeToString(r.trace.sum.Sum(nil))[:16]
	})
	return r
}

// memoryDir is a new directory in memory, where there is one.
func memoryDir(t *testing.T) string {
	t.Helper()
	parent := "/dev/shm"
	if _, err := os.Stat(parent); err != nil {
		parent = ""
	}
	dir, err := os.MkdirTemp(parent, "simulate")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
