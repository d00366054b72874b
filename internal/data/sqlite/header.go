package sqlite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// The places of the numbers in the first page of a file, in the format of SQLite.
const (
	versionAt       = 60
	applicationIDAt = 68
	headerSize      = 100
)

// Numbers are the version of the schema and the kind that the header of a database file has.
type Numbers struct {
	Version       int
	ApplicationID int32
}

// ReadNumbers reads the numbers of the file at path, and changes nothing. They are zero for a file that is
// missing, empty or new: those of a file that never had a checkpoint are in its WAL alone.
func ReadNumbers(path string) (n Numbers, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return n, nil
	}
	if err != nil {
		return n, fmt.Errorf("read the header of %s: %w", path, err)
	}
	defer f.Close()
	var head [headerSize]byte
	switch _, err := io.ReadFull(f, head[:]); {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return n, nil
	case err != nil:
		return n, fmt.Errorf("read the header of %s: %w", path, err)
	}
	n.Version = int(binary.BigEndian.Uint32(head[versionAt:]))
	n.ApplicationID = int32(binary.BigEndian.Uint32(head[applicationIDAt:])) //nolint:gosec // SQLite stores the bits of a signed number
	return n, nil
}
