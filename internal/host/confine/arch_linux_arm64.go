package confine

import "golang.org/x/sys/unix"

const arch = unix.AUDIT_ARCH_AARCH64

// refusedHere are the calls of refused that only this machine has: none.
//
//nolint:gochecknoglobals // a constant table
var refusedHere []uint32
