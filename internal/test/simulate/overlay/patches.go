package overlay

// patches makes Go deterministic inside of bubbles. One source of random numbers, which the
// simulator seeds, decides everything that Go leaves open.
func patches() []patch {
	return []patch{
		{"runtime/rand.go", []change{randomStart(), randomInBubbles(), seededState()}},
		{"runtime/select.go", []change{selectOrder()}},
		{"runtime/time.go", []change{timersOfOneInstant()}},
		{"runtime/proc.go", noPreemption()},
		{"internal/sync/mutex.go", []change{yieldBeforeLock()}},
		{"runtime/runtime2.go", []change{mutexBlocks()}},
	}
}

// Random numbers outside of bubbles begin with a constant.
func randomStart() change {
	return change{
		"	globalRand.state.Init(*seed)\n",
		"	for i := range seed {\n		seed[i] = byte(i + 1)\n	}\n	globalRand.state.Init(*seed)\n",
	}
}

// Those inside of bubbles (maps, math/rand/v2) come from the seeded state.
func randomInBubbles() change {
	return change{
		"	mp := getg().m\n	c := &mp.chacha8\n",
		"	if getg().bubble != nil {\n		return simNext()\n	}\n	mp := getg().m\n	c := &mp.chacha8\n",
	}
}

// seededState is splitmix64. simReseed is the simulator's, simYield is called before each lock.
func seededState() change {
	return change{"// mrandinit initializes", seeded + "// mrandinit initializes"}
}

const seeded = `var simState, simYields uint64

//go:linkname internal_sync_simYield internal/sync.runtime_simYield
func internal_sync_simYield() {
	if simYields != 0 && getg().bubble != nil && simNext()%simYields == 0 {
		Gosched()
	}
}

//go:nosplit
func simNext() uint64 {
	simState += 0x9e3779b97f4a7c15
	z := simState
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	return z ^ (z >> 31)
}

//go:linkname simPeek
func simPeek() uint64 { return simState }

//go:linkname simReseed
func simReseed(seed, yields uint64) {
	simState, simYields = seed, yields
	getg().m.p.ptr().schedtick = 1
}

`

// The order in which a select looks at its cases.
func selectOrder() change {
	return change{
		"		j := cheaprandn(uint32(norder + 1))\n",
		"		j := cheaprandn(uint32(norder + 1))\n		if getg().bubble != nil {\n			j = uint32(simNext() % uint64(norder+1))\n		}\n",
	}
}

// The order of timers of one instant.
func timersOfOneInstant() change {
	return change{"			t.rand = cheaprand()\n", "			t.rand = uint32(simNext())\n"}
}

// A goroutine keeps the processor until it waits: neither 10 ms nor a system call end its turn.
func noPreemption() []change {
	return []change{
		{"		if retake(now) != 0 {\n", "		if simRetake && retake(now) != 0 {\n"},
		{"func retake(now int64) uint32 {\n", "var simRetake = false\n\nfunc retake(now int64) uint32 {\n"},
	}
}

// Another goroutine may run before each lock of a mutex: interleavings between requests.
func yieldBeforeLock() change {
	return change{
		"func (m *Mutex) Lock() {\n",
		"//go:linkname runtime_simYield\nfunc runtime_simYield()\n\nfunc (m *Mutex) Lock() {\n	runtime_simYield()\n",
	}
}

// A goroutine that waits for a mutex counts as blocked, so that time passes while the owner of the
// mutex waits for the object store.
func mutexBlocks() change {
	return change{
		"	waitReasonSyncCondWait:          true,\n",
		"	waitReasonSyncCondWait:          true,\n	waitReasonSyncMutexLock:         true,\n" +
			"	waitReasonSyncRWMutexRLock:      true,\n	waitReasonSyncRWMutexLock:       true,\n",
	}
}
