package durable

import (
	"bytes"
	"encoding/binary"
	"io"
)

// Bytes of a wal-index that stand for locks.
const (
	writeLock = 120 // WAL_WRITE_LOCK
	readLock4 = 127 // WAL_READ_LOCK(4)
)

// index is the header of the wal-index (-shm): what a writer has committed.
type index struct {
	frames uint32 // of the log; the writer synced them before it wrote this
	salt   salt
}

// readIndex reads the header. There are two copies of it, equal unless a writer is between
// them. The file is read, not mapped: workerd truncates it when it starts again.
func readIndex(shm io.ReaderAt) (x index, ok bool) {
	const size, attempts = 48, 50
	var b [2 * size]byte
	for range attempts {
		if n, _ := shm.ReadAt(b[:], 0); n < len(b) {
			return x, false
		}
		if !bytes.Equal(b[:size], b[size:]) {
			continue
		}
		x.frames = binary.NativeEndian.Uint32(b[16:])
		copy(x.salt[:], b[32:40])
		return x, b[12] != 0 // whether it is initialized
	}
	return x, false
}
