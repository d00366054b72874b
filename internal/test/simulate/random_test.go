//go:build simulate

package simulate

import (
	"math/rand/v2"
	_ "unsafe" // for linkname

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// simReseed and simPeek are functions of the changed runtime, see the package overlay.
//
//go:linkname simReseed runtime.simReseed
func simReseed(seed, yields uint64)

//go:linkname simPeek runtime.simPeek
func simPeek() uint64

// random is a generator for one purpose of a seed; different streams are independent of each other.
func random(seed, stream uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, stream)) }

// The streams of a seed. A decision has streamDecisions plus its index.
const (
	streamWorld = iota
	streamEnd
	streamDecisions

	streamSettle = 1 << 32 // plus the number of the round
)

// yields is how often another goroutine may run before a lock: never, every second or every eighth
// time.
func yields(seed uint64) uint64 { return []uint64{0, 2, 8}[seed%3] }

// reseedRuntime sets the state of Go's random numbers in the bubble.
func reseedRuntime(seed, stream uint64) {
	simReseed(random(seed, stream).Uint64(), yields(seed))
}

// reseedSQLite makes the engine's random numbers, such as the salts of a WAL, depend on the seed
// alone.
func reseedSQLite(seed uint64) {
	tls := libc.NewTLS()
	defer tls.Close()
	args := libc.NewVaList(int32(seed&0x7ffffff)+1, uintptr(0))
	defer libc.Xfree(tls, args)
	lib.Xsqlite3_test_control(tls, lib.SQLITE_TESTCTRL_PRNG_SEED, args)
}
